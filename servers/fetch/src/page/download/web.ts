import { Line } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { HttpClient } from "@refmcp/boundary/http-client";
import type { UrlGuard } from "@refmcp/boundary/url-guard";
import { Converter } from "../read/converter.ts";
import { Snapshot } from "../read/snapshot.ts";
import { KEPT_MS, SnapshotCache } from "./cache.ts";
import { clientOf, type WebOptions } from "./client.ts";
import { RobotsTxt } from "./robots-txt.ts";

/**
 * For requests by the model and by the user. Sites have rules for the name of the official server, so it stays; the
 * address is where a site's owner finds this one.
 */
const AGENTS = {
  model: "ModelContextProtocol/1.0 (Autonomous; +https://github.com/refmcp/refmcp)",
  user: "ModelContextProtocol/1.0 (User-Specified; +https://github.com/refmcp/refmcp)",
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
  readonly requester?: "model" | "user";
  readonly signal: AbortSignal;
}

/** Guarded access to the web. */
export class Web {
  readonly snapshots: SnapshotCache;
  readonly #options: WebOptions;
  readonly #client: HttpClient;
  readonly #guard: UrlGuard;
  readonly #converter = new Converter();
  readonly #robots: RobotsTxt;
  readonly #perHost = new Line(PER_HOST);
  readonly #downloading = new Map<string, SharedDownload>();

  private constructor(
    options: WebOptions,
    { client, guard }: Awaited<ReturnType<typeof clientOf>>,
    changed: () => void,
  ) {
    this.#options = options;
    this.#client = client;
    this.#guard = guard;
    this.#robots = new RobotsTxt(client);
    this.snapshots = new SnapshotCache(changed);
  }

  /** @throws ToolError as `clientOf`. */
  static async open(options: WebOptions, changed: () => void): Promise<Web> {
    return new Web(options, await clientOf(options), changed);
  }

  /** Whether the user allows questions to the client's model. */
  get mayAskModel(): boolean {
    return !this.#options.passagesOnly;
  }

  async close(): Promise<void> {
    this.#client.close();
    await this.#converter.close();
  }

  /**
   * Gets a page by its URL, or an earlier download (`fetch://snapshot/…`).
   *
   * @throws ToolError from the boundary, robots.txt and the network; `not_found`, `denied` or `unavailable` for a
   * status of 400 and above; the signal's reason.
   */
  async get(
    given: string,
    { maxAgeMs = KEPT_MS, requester = "model", signal }: Get,
  ): Promise<Snapshot> {
    const [, id] = SNAPSHOT.exec(given) ?? [];
    if (id !== undefined) return this.kept(id);
    const address = withoutFragment(given);
    const key = `${requester} ${address}`;
    const known = this.snapshots.latest(key, maxAgeMs);
    if (known !== undefined) return known;
    const loading = this.#downloading.get(key) ?? this.#load(key, address, requester);
    return await loading.wait(signal);
  }

  /** @throws ToolError `not_found` */
  kept(id: string): Snapshot {
    const snapshot = this.snapshots.byId(id);
    if (snapshot !== undefined) return snapshot;
    throw new ToolError("not_found", `The download ${oneLine(id.slice(0, 40))} is not kept here.`, {
      hint: "Downloads are kept for 15 minutes after their last use, by the copy of the server that made them. Fetch the URL again from the start.",
    });
  }

  /** One download for all concurrent callers of the same page; cancelled when none is left. */
  #load(key: string, address: string, requester: "model" | "user"): SharedDownload {
    const loading = new SharedDownload(async (signal) => {
      return this.snapshots.keep(key, await this.#download(address, requester, signal));
    });
    this.#downloading.set(key, loading);
    loading.ended.finally(() => this.#downloading.delete(key));
    return loading;
  }

  async #download(
    address: string,
    requester: "model" | "user",
    signal: AbortSignal,
  ): Promise<Snapshot> {
    const userAgent = this.#options.userAgent ?? AGENTS[requester];
    const url = this.#guard.check(address);
    const load = async () => {
      if (requester === "model" && !this.#options.ignoreRobotsTxt)
        await this.#robots.check(url, userAgent, signal);
      const answer = await this.#client.get(url, {
        headers: { "user-agent": userAgent, accept: ACCEPT, "accept-language": "en, *;q=0.5" },
        signal,
      });
      const snapshot = await Snapshot.of(answer, this.#converter);
      if (answer.status >= 400) throw await statusError(snapshot, signal);
      return snapshot;
    };
    return await this.#perHost.run(url.host, load, signal);
  }
}

/** A download that several callers wait for. */
class SharedDownload {
  readonly #abort = new AbortController();
  readonly #result: Promise<Snapshot>;
  /** Resolves when it has ended, in success or failure. */
  readonly ended: Promise<void>;
  #waiting = 0;

  constructor(work: (signal: AbortSignal) => Promise<Snapshot>) {
    this.#result = work(this.#abort.signal);
    const done = () => undefined;
    this.ended = this.#result.then(done, done);
  }

  async wait(signal: AbortSignal): Promise<Snapshot> {
    signal.throwIfAborted();
    this.#waiting += 1;
    const ended = new AbortController();
    const cancelled = new Promise<never>((_, reject) => {
      const listening = { once: true, signal: ended.signal };
      signal.addEventListener("abort", () => reject(signal.reason), listening);
    });
    try {
      return await Promise.race([this.#result, cancelled]);
    } finally {
      ended.abort();
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#abort.abort();
    }
  }
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

const MEANINGS: Readonly<Record<number, readonly [kind: ToolError["kind"], meaning: string]>> = {
  401: ["denied", "login required"],
  403: ["denied", "access denied"],
  404: ["not_found", "page not found"],
  410: ["not_found", "the page was removed"],
  429: ["unavailable", "rate limit exceeded"],
};
const SHOWN_CHARS = 300;

async function statusError(snapshot: Snapshot, signal: AbortSignal): Promise<ToolError> {
  const { status, url, headers } = snapshot.answer;
  const other = status >= 500 ? "server error" : "the site rejected the request";
  const [kind, meaning] = MEANINGS[status] ?? ["unavailable", other];
  const { text } = snapshot.isText
    ? await snapshot.page({ format: "text", includeLinks: false }, signal)
    : { text: "" };
  const said = oneLine(text.replace(/\s+/g, " ").slice(0, SHOWN_CHARS));
  const retry = /^\d{1,6}$/.exec(headers["retry-after"] ?? "")?.[0];
  const message = said === "" ? "" : ` Message: ${JSON.stringify(said)}`;
  const gone =
    "Check the URL. The page that linked to it, or the site's home page, may have a newer one.";
  const later = status >= 500 ? "Try again later." : gone;
  return new ToolError(kind, `${url.href} returned status ${status}: ${meaning}.${message}`, {
    hint: retry === undefined ? later : `Try again after ${retry} s.`,
  });
}
