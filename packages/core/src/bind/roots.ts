import type { ClientRoot, DirectoryAllowlist } from "@refmcp/boundary";
import { reasonOf } from "@refmcp/boundary/answer";
import type { Client } from "../engine/caller.ts";
import type { Log } from "../log.ts";
import { isRootList, type Questions } from "./questions.ts";

/** How long a legacy client may take to send its roots before calls continue without them. */
const LEGACY_ANSWER_MS = 5_000;
/** Every root is looked up in the file system, again and again. */
const MAX_ROOTS = 200;
/** How long roots of a modern client are cached; it cannot notify about changes. */
const MODERN_TTL_MS = 10 * 60_000;

/** Keeps the allowed directories in sync with the client's roots. */
export class ClientRoots {
  readonly #allowlist: DirectoryAllowlist;
  readonly #log: Log;
  /** For each legacy client whose roots were requested, a promise that settles when they are known. */
  readonly requestsByClient = new WeakMap<Client, Promise<void>>();
  /** In the modern era, until when they need not be requested again, in milliseconds of `Date.now()`. */
  knownUntil = 0;

  constructor(allowlist: DirectoryAllowlist, log: Log) {
    this.#allowlist = allowlist;
    this.#log = log;
  }

  /** Legacy era: requests the roots once the client is initialized, and whenever it notifies that they changed. */
  onNotification(method: string, client: Client): void {
    if (method !== "notifications/initialized" && method !== "notifications/roots/list_changed")
      return;
    const isNewest = () => this.requestsByClient.get(client) === request;
    const request: Promise<void> = this.#fetch(client, isNewest).finally(() => {
      if (isNewest()) this.requestsByClient.delete(client);
    });
    this.requestsByClient.set(client, request);
  }

  /** @param isNewest whether the client was not asked again in the meantime. */
  async #fetch(client: Client, isNewest: () => boolean): Promise<void> {
    if (client.capabilities?.roots === undefined) return;
    try {
      const answer = await client.ask?.("roots/list", undefined, { timeoutMs: LEGACY_ANSWER_MS });
      if (!isRootList(answer)) throw new TypeError("the answer is not a list of roots");
      if (isNewest()) this.#set(answer.roots);
    } catch (error) {
      this.#log.warning(`The client did not list its roots: ${reasonOf(error)}`);
    }
  }

  /** Modern era: requests the roots within a call, once per process and again when they expire. */
  refresh(questions: Questions): void {
    if (!questions.isPossible) return;
    const roots = questions.roots();
    this.knownUntil = Date.now() + MODERN_TTL_MS;
    this.#set(roots);
  }

  #set(roots: readonly ClientRoot[] | undefined): void {
    if (roots !== undefined && roots.length > MAX_ROOTS)
      this.#log.warning(`Only ${MAX_ROOTS} of the client's ${roots.length} roots are used.`);
    for (const note of this.#allowlist.setClientRoots(roots?.slice(0, MAX_ROOTS)))
      this.#log.warning(note);
  }
}
