import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { HttpClient } from "@refmcp/boundary/http-client";
import type { UrlGuard } from "@refmcp/boundary/url-guard";
import { clientOf, type WebOptions } from "./client.ts";
import { Converter } from "./converter.ts";
import type { Renderer } from "./render.ts";
import { RobotsGate } from "./robots-gate.ts";
import { Snapshot } from "./snapshot.ts";
import { KEPT_MS, Snapshots } from "./snapshots.ts";
import { Turns } from "./turns.ts";

/** The user agents of the official server, for requests by the model and by the user. */
const AGENTS = {
  model: "ModelContextProtocol/1.0 (Autonomous; +https://github.com/modelcontextprotocol/servers)",
  user: "ModelContextProtocol/1.0 (User-Specified; +https://github.com/modelcontextprotocol/servers)",
} as const;

/** Prefers Markdown, which needs no conversion. */
const ACCEPT =
  "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, */*;q=0.5";
const PER_HOST = 2;
const SNAPSHOT = /^fetch:\/\/snapshot\/([0-9a-f]{12})(?:#.*)?$/;

export interface Get {
  /** Maximum age of a cached download in milliseconds; default: until it expires. */
  readonly maxAgeMs?: number;
  /** Who requests the page: robots.txt applies to programs, not to people. Default: the model. */
  readonly asker?: "model" | "user";
  readonly signal: AbortSignal;
}

/** Guarded access to the web. */
export class Web {
  readonly snapshots: Snapshots;
  readonly #options: WebOptions;
  readonly #client: HttpClient;
  readonly #guard: UrlGuard;
  readonly #converter = new Converter();
  readonly #robots: RobotsGate;
  #renderer: Renderer | undefined;
  readonly #hosts = new Turns(PER_HOST);
  readonly #loading = new Map<string, Loading>();

  private constructor(
    options: WebOptions,
    { client, guard }: { client: HttpClient; guard: UrlGuard },
    changed: () => void,
  ) {
    this.#options = options;
    this.#client = client;
    this.#guard = guard;
    this.#robots = new RobotsGate(client);
    this.snapshots = new Snapshots(changed);
  }

  /** @throws ToolError `invalid` for conflicting options; as `clientOf`. */
  static async open(options: WebOptions, changed: () => void): Promise<Web> {
    if (options.render && options.proxyUrl !== undefined)
      throw new ToolError(
        "invalid",
        "--render cannot be used with --proxy-url: the browser would not use the proxy.",
        {
          hint: "Start the server with only one of them.",
        },
      );
    return new Web(options, await clientOf(options), changed);
  }

  async close(): Promise<void> {
    this.#client.close();
    await Promise.all([this.#converter.close(), this.#renderer?.close()]);
  }

  /**
   * Gets a page by its URL, or an earlier download (`fetch://snapshot/…`).
   *
   * @throws ToolError from the boundary, robots.txt and the network; `not_found`, `denied` or `unavailable` for a
   * status of 400 and above; the signal's reason.
   */
  async get(given: string, { maxAgeMs = KEPT_MS, asker = "model", signal }: Get): Promise<Snapshot> {
    const [, id] = SNAPSHOT.exec(given) ?? [];
    if (id !== undefined) return this.kept(id);
    const address = withoutFragment(given);
    const key = `${asker} ${address}`;
    const known = this.snapshots.latest(key, maxAgeMs);
    if (known !== undefined) return known;
    const loading = this.#loading.get(key) ?? this.#load(key, address, asker);
    return await loading.wait(signal);
  }

  /** @throws ToolError `not_found` */
  kept(id: string): Snapshot {
    const snapshot = this.snapshots.byId(id);
    if (snapshot !== undefined) return snapshot;
    throw new ToolError("not_found", `The download ${oneLine(id.slice(0, 40))} has expired.`, {
      hint: "Downloads expire 15 minutes after their last use. Fetch the URL again from the start.",
    });
  }

  /** One download for all concurrent callers of the same page; cancelled when none is left. */
  #load(key: string, address: string, asker: "model" | "user"): Loading {
    const loading = new Loading(async (signal) => {
      return this.snapshots.keep(key, await this.#download(address, asker, signal));
    });
    this.#loading.set(key, loading);
    loading.ended.finally(() => this.#loading.delete(key));
    return loading;
  }

  async #download(address: string, asker: "model" | "user", signal: AbortSignal): Promise<Snapshot> {
    const userAgent = this.#options.userAgent ?? AGENTS[asker];
    const url = this.#guard.check(address);
    return await this.#hosts.take(url.host, signal, async () => {
      if (asker === "model" && !this.#options.ignoreRobotsTxt)
        await this.#robots.check(url, userAgent, signal);
      const answer = await this.#client.get(url, {
        headers: { "user-agent": userAgent, accept: ACCEPT, "accept-language": "en, *;q=0.5" },
        signal,
      });
      const snapshot = await Snapshot.of(answer, this.#converter);
      if (answer.status >= 400) throw await failed(snapshot, signal);
      return this.#options.render && snapshot.body.kind === "html"
        ? await this.#rendered(snapshot, userAgent, signal)
        : snapshot;
    });
  }

  /**
   * Renders a page that is empty without JavaScript in a browser; if that fails, returns it unrendered, with the
   * reason.
   */
  async #rendered(snapshot: Snapshot, userAgent: string, signal: AbortSignal): Promise<Snapshot> {
    const { answer } = snapshot;
    const page = await snapshot.page({ format: "auto", includeLinks: true }, signal);
    if (!page.needsJavascript) return snapshot;
    try {
      const renderer = await this.#browser();
      const { url, html, isCut } = await renderer.render(answer.url, userAgent, signal);
      const headers = { ...answer.headers, "content-type": "text/html; charset=utf-8" };
      const redirects = url.href === answer.url.href ? answer.redirects : [...answer.redirects, answer.url];
      const made = { ...answer, url, redirects, headers, isCut, body: Buffer.from(html) };
      return await Snapshot.of(made, this.#converter, {});
    } catch (error) {
      signal.throwIfAborted();
      const { message, hint } =
        error instanceof ToolError ? error : { message: String(error), hint: undefined };
      const failed = oneLine([message.replace(/\.$/, ""), ...(hint === undefined ? [] : [hint])].join(". "));
      return await Snapshot.of(answer, this.#converter, { failed });
    }
  }

  /** Loaded for the first page that needs it. */
  async #browser(): Promise<Renderer> {
    const [{ Renderer }, { networkGuardOf }] = await Promise.all([
      import("./render.ts"),
      import("@refmcp/boundary/forward-proxy"),
    ]);
    const { timeout, maxBytes } = this.#options;
    this.#renderer ??= new Renderer({
      gate: networkGuardOf(this.#guard),
      totalMs: timeout * 1_000,
      chars: maxBytes,
    });
    return this.#renderer;
  }
}

/** A download that several callers wait for. */
class Loading {
  readonly #abort = new AbortController();
  readonly #result: Promise<Snapshot>;
  /** Resolves when it has ended, in success or failure. */
  readonly ended: Promise<void>;
  #waiting = 0;

  constructor(work: (signal: AbortSignal) => Promise<Snapshot>) {
    this.#result = work(this.#abort.signal);
    this.ended = this.#result.then(
      () => undefined,
      () => undefined,
    );
  }

  async wait(signal: AbortSignal): Promise<Snapshot> {
    signal.throwIfAborted();
    this.#waiting += 1;
    const { promise: left, reject } = withReject();
    const leave = (): void => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([this.#result, left]);
    } finally {
      signal.removeEventListener("abort", leave);
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#abort.abort();
    }
  }
}

function withReject(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  return { promise, reject };
}

/**
 * Removes the fragment, since the page is the same. An invalid URL is unchanged; the guard reports the problem.
 */
function withoutFragment(given: string): string {
  if (!URL.canParse(given)) return given;
  const url = new URL(given);
  url.hash = "";
  return url.href;
}

const MEANINGS: Readonly<Record<number, string>> = {
  401: "login required",
  403: "access denied",
  404: "page not found",
  410: "the page was removed",
  429: "rate limit exceeded",
};
const SHOWN_CHARS = 300;

async function failed(snapshot: Snapshot, signal: AbortSignal): Promise<ToolError> {
  const { status, url, headers } = snapshot.answer;
  const kind =
    status === 404 || status === 410
      ? "not_found"
      : status === 401 || status === 403
        ? "denied"
        : "unavailable";
  const meaning = MEANINGS[status] ?? (status >= 500 ? "server error" : "the site rejected the request");
  const { text } = snapshot.isText
    ? await snapshot.page({ format: "text", includeLinks: false }, signal)
    : { text: "" };
  const said = oneLine(text.replace(/\s+/g, " ").slice(0, SHOWN_CHARS));
  const retry = /^\d{1,6}$/.exec(headers["retry-after"] ?? "")?.[0];
  return new ToolError(
    kind,
    `${url.href} returned status ${status}: ${meaning}.${said === "" ? "" : ` Message: ${JSON.stringify(said)}`}`,
    {
      hint:
        retry !== undefined
          ? `Try again after ${retry} s.`
          : status >= 500
            ? "Try again later."
            : "Check the URL. The page that linked to it, or the site's home page, may have a newer one.",
    },
  );
}
