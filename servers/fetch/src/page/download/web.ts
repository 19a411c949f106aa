/** The way to the web: an earlier download, one that is running, or a new one that the guard and robots.txt allow. */
import { Line } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { HttpClient } from "@refmcp/boundary/http-client";
import type { UrlGuard } from "@refmcp/boundary/url-guard";
import { Converter } from "../read/converter.ts";
import { Snapshot } from "../read/snapshot.ts";
import { KEPT_MS, SnapshotCache } from "./cache.ts";
import { clientOf, type WebOptions } from "./client.ts";
import { RobotsTxt } from "./robots-txt.ts";
import { statusError } from "./status.ts";

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
  readonly #perPage = new Line();

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

  close(): void {
    this.#client.close();
    this.#converter.close();
  }

  /**
   * Gets a page by its URL, or an earlier download (`fetch://snapshot/…`).
   *
   * @throws ToolError from the boundary, robots.txt and the network; `not_found`, `denied` or `unavailable` for a
   * status of 400 and above; the signal's reason.
   */
  async get(
    address: string,
    { maxAgeMs = KEPT_MS, requester = "model", signal }: Get,
  ): Promise<Snapshot> {
    const [, id] = SNAPSHOT.exec(address) ?? [];
    if (id !== undefined) return this.snapshot(id);
    const url = withoutFragment(address);
    const key = `${requester} ${url}`;
    // Concurrent requests for the same page wait for one download.
    const load = async () =>
      this.snapshots.latest(key, maxAgeMs) ??
      this.snapshots.keep(key, await this.#download(url, requester, signal));
    return await this.#perPage.run(key, load, signal);
  }

  /** @throws ToolError `not_found` */
  snapshot(id: string): Snapshot {
    const snapshot = this.snapshots.byId(id);
    if (snapshot !== undefined) return snapshot;
    throw new ToolError("not_found", `The download ${oneLine(id.slice(0, 40))} is not kept here.`, {
      hint: "Downloads are kept for 15 minutes after their last use, by the copy of the server that made them. Fetch the URL again from the start.",
    });
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
      if (answer.status < 400) return snapshot;
      const page = snapshot.isText
        ? await snapshot.page({ includeLinks: false }, signal)
        : undefined;
      throw statusError(answer, page?.text ?? "");
    };
    return await this.#perHost.run(url.host, load, signal);
  }
}

/**
 * Removes the fragment, since the page is the same. An invalid URL is unchanged; the guard reports the problem.
 */
function withoutFragment(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.hash = "";
  return url.href;
}
