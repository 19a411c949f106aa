import { clip, fitting, oneLine, ToolError } from "@refmcp/boundary/answer";
import { unpack } from "../archive/zip.ts";

export interface TraceSummary {
  readonly title?: string;
  readonly browser?: string;
  /** `3. click … (120 ms)`, and after ✗ why it failed. */
  readonly actions: string[];
  readonly action_count: number;
  readonly errors: string[];
  readonly console: string[];
  readonly request_count: number;
  readonly failed_requests: string[];
}

const MAX_LISTED = 10;

interface Bounds {
  readonly limit: number;
  readonly budget: number;
}

/**
 * Summarizes a Playwright trace: actions (including all that failed), errors, console and network.
 *
 * @param bounds maximum number of actions, the last ones, and of their characters.
 * @throws ToolError `invalid` for a file that is not a trace, `too_large`.
 */
export async function inspectTrace(path: string, bounds: Bounds): Promise<TraceSummary> {
  const files = await unpack(path, (name) => /\.(?:trace|network)$/.test(name) && !name.includes("/"));
  if (files.size === 0)
    throw new ToolError("invalid", `${path} does not contain a trace.`, {
      hint: "Pass a trace.zip written by Playwright.",
    });
  const seen = new Reading();
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    for (const line of Buffer.from(bytes).toString("utf8").split("\n")) seen.read(line, name);
  return seen.summary(bounds);
}

interface Open {
  name: string;
  /** The runner's own actions around a test, shown only if they fail. */
  readonly isFrame: boolean;
  readonly start: number;
  ms?: number;
  error?: string;
}

interface Action extends Open {
  readonly n: number;
}

const FRAME = new Set(["hook", "fixture", "test.attach"]);

class Reading {
  readonly #actions: Open[] = [];
  /** By the file and the id of a call. */
  readonly #calls = new Map<string, Open>();
  /** By the runner's step id: library calls that name it are merged into that step. */
  readonly #steps = new Map<string, Open>();
  readonly #errors: string[] = [];
  readonly #console: string[] = [];
  readonly #failed: string[] = [];
  #requests = 0;
  #title: string | undefined;
  #browser: string | undefined;

  read(line: string, file: string): void {
    if (line === "") return;
    let event: Record<string, unknown>;
    try {
      event = Object(JSON.parse(line));
    } catch {
      return;
    }
    switch (event.type) {
      case "context-options":
        this.#title ??= textAt(event, "title");
        this.#browser ??= textAt(event, "browserName");
        return;
      case "before":
        this.#before(event, file);
        return;
      case "after":
        this.#after(event, file);
        return;
      case "error":
        this.#errors.push(short(textAt(event, "message") ?? "", 600));
        return;
      case "console":
        if (/^(?:error|warning)$/.test(String(event.messageType)))
          this.#console.push(`${event.messageType}: ${short(textAt(event, "text") ?? "")}`);
        return;
      case "event":
        if (event.method === "pageError") {
          const error = Object(Object(Object(event.params).error).error);
          this.#console.push(`uncaught ${short(String(error.message ?? ""))}`);
        }
        return;
      case "resource-snapshot":
        this.#request(Object(event.snapshot));
    }
  }

  #before(event: Record<string, unknown>, file: string): void {
    const params = Object(event.params);
    const title = textAt(event, "title");
    const what = title ?? `${event.class ?? ""}.${event.method ?? ""}`;
    const on = ["selector", "url", "key", "expression"].flatMap((key) => textAt(params, key) ?? []);
    const detail = on.filter((one) => !what.includes(one)).map((one) => short(one, 120));
    const name = [oneLine(clip(what, 200)), ...detail].join(" ");
    const step = textAt(event, "stepId") ?? String(event.callId);
    const known = this.#steps.get(step);
    const isFrame = FRAME.has(String(event.method));
    const open: Open = known ?? { name, isFrame, start: Number(event.startTime) };
    if (known === undefined) this.#actions.push(open);
    else if (title !== undefined) open.name = name;
    this.#steps.set(step, open);
    this.#calls.set(`${file}:${event.callId}`, open);
  }

  #after(event: Record<string, unknown>, file: string): void {
    const open = this.#calls.get(`${file}:${event.callId}`);
    if (open === undefined) return;
    const ms = Number(event.endTime) - open.start;
    if (Number.isFinite(ms)) open.ms = Math.round(ms);
    const error = Object(event.error);
    const message: unknown = error.message ?? Object(error.error).message;
    if (typeof message === "string") open.error = short(message, 600);
  }

  #request(snapshot: Record<string, unknown>): void {
    this.#requests += 1;
    const request = Object(snapshot.request);
    const response = Object(snapshot.response);
    const status = Number(response.status);
    const failure: unknown = response._failureText;
    if (status > 0 && status < 400 && typeof failure !== "string") return;
    this.#failed.push(
      `${request.method} ${short(String(request.url), 200)}: ${typeof failure === "string" ? short(failure) : status}`,
    );
  }

  summary({ limit, budget }: Bounds): TraceSummary {
    const all: Action[] = this.#actions
      .filter(({ isFrame, error }) => !isFrame || error !== undefined)
      .sort((one, two) => one.start - two.start)
      .map((open, index) => ({ ...open, n: index + 1 }));
    const rest = {
      ...(this.#title === undefined ? {} : { title: short(this.#title) }),
      ...(this.#browser === undefined ? {} : { browser: short(this.#browser) }),
      action_count: all.length,
      errors: this.#errors.slice(0, MAX_LISTED / 2),
      console: this.#console.slice(0, MAX_LISTED),
      request_count: this.#requests,
      failed_requests: this.#failed.slice(0, MAX_LISTED),
    };
    // Failures are selected first, then the latest actions, as many as fit; shown in order.
    const failed = all.filter((action) => action.error !== undefined).slice(0, MAX_LISTED);
    const latest = all
      .filter((action) => action.error === undefined)
      .slice(-limit)
      .reverse();
    const ranked = [...failed, ...latest].slice(0, Math.max(limit, failed.length));
    const kept = ranked.slice(
      0,
      fitting(ranked, budget - JSON.stringify(rest).length - 200, (one) => actionLine(one).length * 1.2 + 4),
    );
    return { ...rest, actions: kept.sort((one, two) => one.n - two.n).map(actionLine) };
  }
}

function actionLine({ n, name, ms, error }: Action): string {
  const took = ms === undefined ? "" : ` (${ms} ms)`;
  return `${n}. ${name}${took}${error === undefined ? "" : ` ✗ ${error}`}`;
}

function textAt(event: Record<string, unknown>, key: string): string | undefined {
  const value = event[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Untrusted text on one line, without terminal colors. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors of error messages begin with the escape character.
const short = (text: string, max = 240) => oneLine(clip(text.replace(/\u001b\[[\d;]*m/g, ""), max));

/** A trace's summary for people and models. */
export function traceText(trace: TraceSummary): string {
  const { title, browser, actions, action_count: count, errors, console, request_count: requests } = trace;
  const part = (name: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", `${name}:`, ...lines];
  const shown = actions.length < count ? `, ${actions.length} shown (raise limit for more)` : "";
  return [
    [title, browser, `${count} actions${shown}`, `${requests} requests`]
      .filter((one) => one !== undefined)
      .join(", "),
    ...part("Actions", actions),
    ...part("Errors", errors),
    ...part("Console", console),
    ...part("Failed requests", trace.failed_requests),
  ].join("\n");
}
