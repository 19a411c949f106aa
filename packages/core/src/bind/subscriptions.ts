import { ToolError } from "../answer/errors.ts";
import type { Unwatch } from "../define/resource.ts";
import type { Awaitable } from "../define/tool.ts";
import type { Log } from "../log.ts";

/** Starts watching a URI; undefined where nothing of that name can be watched. */
export type StartWatching = (uri: string, changed: () => void) => Awaitable<Unwatch | undefined>;

interface Watch {
  subscribers: number;
  /** Settles when watching has begun; its value stops it. */
  started: Promise<Unwatch | undefined>;
}

/** So many things may be watched at once for one client: each may cost a handle of the system. */
const MOST_WATCHES = 1_000;

/** Counts the subscribers of each URI: the first one starts the watch, the last one stops it. */
export class Subscriptions {
  readonly #watches = new Map<string, Watch>();
  readonly #start: StartWatching;
  readonly #changed: (uri: string) => void;
  readonly #log: Log;

  constructor(start: StartWatching, changed: (uri: string) => void, log: Log) {
    this.#start = start;
    this.#changed = changed;
    this.#log = log;
  }

  has(uri: string): boolean {
    return this.#watches.has(uri);
  }

  /** @throws whatever starting the watch throws; nothing is subscribed then. */
  async add(uri: string): Promise<void> {
    const present = this.#watches.get(uri);
    if (present !== undefined) {
      present.subscribers += 1;
      await present.started;
      return;
    }
    if (this.#watches.size >= MOST_WATCHES)
      throw new ToolError("too_large", `${MOST_WATCHES} resources are watched already, which is the most.`, {
        hint: "Unsubscribe from some, or subscribe to a resource that tells of many.",
      });
    const started = Promise.resolve(this.#start(uri, () => this.#changed(uri)));
    this.#watches.set(uri, { subscribers: 1, started });
    try {
      await started;
    } catch (error) {
      this.#watches.delete(uri);
      throw error;
    }
  }

  async remove(uri: string): Promise<void> {
    const watch = this.#watches.get(uri);
    if (watch === undefined) return;
    watch.subscribers -= 1;
    if (watch.subscribers > 0) return;
    this.#watches.delete(uri);
    await this.#stop(uri, watch);
  }

  async close(): Promise<void> {
    const watches = [...this.#watches];
    this.#watches.clear();
    await Promise.all(watches.map(([uri, watch]) => this.#stop(uri, watch)));
  }

  async #stop(uri: string, watch: Watch): Promise<void> {
    try {
      const unwatch = await watch.started;
      await unwatch?.();
    } catch (error) {
      this.#log.warning(`Could not stop watching ${uri}: ${String(error)}`);
    }
  }
}
