import { walk } from "../tree/walk.ts";
import type { Locate, Located, LocateRequest } from "./find-files.ts";
import type { ScanPool } from "./scan-pool.ts";

/** Files that are handed to a thread at once. */
const BATCH = 128;
/** Batches that wait for a thread before the walk does. */
const WAITING = 4;

/** Finds matching files with threads of this process and a linear-time engine: works everywhere. */
export function locateByWorkers(pool: ScanPool): Locate {
  return async (request, found) => {
    const counter = new Counter(pool, request, found);
    const { guard, root, glob, ignore, signal } = request;
    try {
      await walk(guard, root, { signal, ignore, rest: () => counter.rest() }, ({ path, name, type }) => {
        if (type === "file" && glob?.matches(path, name, false) !== false) counter.add(path);
        return counter.failed ? "stop" : undefined;
      });
    } finally {
      // The threads use the root's descriptor, so they end before it is closed.
      await counter.settle();
    }
    await counter.finish();
  };
}

/** Counts the matching lines of files that were found already. */
export async function countAgain(
  pool: ScanPool,
  request: LocateRequest,
  paths: readonly string[],
  found: (located: Located) => void,
): Promise<void> {
  const counter = new Counter(pool, request, found);
  for (const path of paths) {
    counter.add(path);
    await counter.rest();
  }
  await counter.finish();
}

/** Hands files to threads, batch by batch. */
class Counter {
  failed = false;
  readonly #pool: ScanPool;
  readonly #request: LocateRequest;
  readonly #found: (located: Located) => void;
  readonly #running = new Set<Promise<void>>();
  #batch: string[] = [];
  #reason: unknown;

  constructor(pool: ScanPool, request: LocateRequest, found: (located: Located) => void) {
    this.#pool = pool;
    this.#request = request;
    this.#found = found;
  }

  add(path: string): void {
    this.#batch.push(path);
    if (this.#batch.length >= BATCH) this.#send();
  }

  /** To be waited for where the threads are behind. */
  rest(): Promise<void> | undefined {
    return this.#running.size >= this.#pool.width + WAITING ? Promise.race(this.#running) : undefined;
  }

  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** @throws what a thread failed with. */
  async finish(): Promise<void> {
    if (this.#batch.length > 0 && !this.failed) this.#send();
    await this.settle();
    if (this.failed) throw this.#reason;
  }

  #send(): void {
    const job = this.#count(this.#batch).catch((reason: unknown) => {
      if (!this.failed) this.#reason = reason;
      this.failed = true;
    });
    this.#batch = [];
    this.#running.add(job);
    void job.then(() => this.#running.delete(job));
  }

  async #count(paths: readonly string[]): Promise<void> {
    const { root, pattern, signal } = this.#request;
    const { realPath } = root;
    const answer = await this.#pool.run(
      { kind: "count", pattern, at: root.entry(""), realPath, paths },
      signal,
    );
    if (!("counts" in answer)) return;
    for (const [index, path] of paths.entries()) {
      const lines = answer.counts[index] ?? 0;
      if (lines > 0) this.#found({ path, lines });
    }
  }
}
