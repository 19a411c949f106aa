import { clip, fitting, oneLine, ToolError } from "@refmcp/boundary/answer";
import { unpack } from "./zip.ts";

const MAX_LISTED = 10;

interface Bounds {
  readonly limit: number;
  readonly budget: number;
}

/**
 * Summarizes a Playwright trace for people and models: actions (including all that failed), errors, console and network.
 *
 * @param bounds maximum number of actions, the last ones, and of their characters.
 * @throws ToolError `invalid` for a file that is not a trace, `too_large`.
 */
export async function inspectTrace(path: string, bounds: Bounds): Promise<string> {
  const files = await unpack(
    path,
    (name) => /\.(?:trace|network)$/.test(name) && !name.includes("/"),
  );
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
  /** The runner's own action around a test, shown only if it fails. */
  readonly isFrame: boolean;
  readonly start: number;
  ms?: number;
  error?: string;
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

  summary({ limit, budget }: Bounds): string {
    const all = this.#actions
      .filter(({ isFrame, error }) => !isFrame || error !== undefined)
      .sort((one, two) => one.start - two.start)
      .map(({ name, ms, error }, index) => {
        const took = ms === undefined ? "" : ` (${ms} ms)`;
        const line = `${index + 1}. ${name}${took}${error === undefined ? "" : ` ✗ ${error}`}`;
        return { n: index + 1, error, line };
      });
    const title = this.#title === undefined ? [] : [short(this.#title)];
    const browser = this.#browser === undefined ? [] : [short(this.#browser)];
    const errors = this.#errors.slice(0, MAX_LISTED / 2);
    const console = this.#console.slice(0, MAX_LISTED);
    const failures = this.#failed.slice(0, MAX_LISTED);
    const rest = [...title, ...browser, ...errors, ...console, ...failures];
    // Failures are selected first, then the latest actions, as many as fit; shown in order.
    const failed = all.filter(({ error }) => error !== undefined).slice(0, MAX_LISTED);
    const latest = all.filter(({ error }) => error === undefined).slice(-limit);
    const ranked = [...failed, ...latest.reverse()].slice(0, Math.max(limit, failed.length));
    const left = budget - JSON.stringify(rest).length - 350;
    const kept = ranked.slice(
      0,
      fitting(ranked, left, ({ line }) => line.length * 1.2 + 4),
    );
    const part = (name: string, lines: readonly string[]) =>
      lines.length === 0 ? [] : ["", `${name}:`, ...lines];
    const more = kept.length < all.length ? `, ${kept.length} shown (raise limit for more)` : "";
    return [
      [...title, ...browser, `${all.length} actions${more}`, `${this.#requests} requests`].join(
        ", ",
      ),
      ...part(
        "Actions",
        kept.sort((one, two) => one.n - two.n).map(({ line }) => line),
      ),
      ...part("Errors", errors),
      ...part("Console", console),
      ...part("Failed requests", failures),
    ].join("\n");
  }
}

function textAt(event: Record<string, unknown>, key: string): string | undefined {
  const value = event[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Untrusted text on one line, without terminal colors. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colors of error messages begin with the escape character.
const short = (text: string, max = 240) => oneLine(clip(text.replace(/\u001b\[[\d;]*m/g, ""), max));
