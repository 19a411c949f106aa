import type { GuardedDirectory, PathGuard } from "@refmcp/core/boundary";
import type { Glob } from "../glob/glob.ts";
import type { IgnoreScope } from "../glob/ignore-scope.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { walk } from "../tree/walk.ts";
import type { TextPattern } from "./text-pattern.ts";

/** Which files of a tree are searched for what. */
export interface FindRequest {
  readonly guard: PathGuard;
  readonly root: GuardedDirectory;
  readonly pattern: TextPattern;
  /** Which files are of interest; all without it. */
  readonly glob: Glob | undefined;
  /** The rules from above `root`; undefined searches ignored files as well. */
  readonly ignore: IgnoreScope | undefined;
  readonly signal: AbortSignal;
  /** Aborts the signal, so that nothing goes on where one part failed. */
  readonly abort: (reason: unknown) => void;
}

/** A file with lines that match. */
export interface FileWithLines {
  /** Below the root, with `/` between components. */
  readonly path: string;
  /** How many lines match. */
  readonly lines: number;
}

/** Files that are handed to a thread at once. */
const BATCH = 128;
/** Batches that wait for a thread before the walk does. */
const WAITING = 4;

/** Finds the files with lines that match, in any order, and nothing outside the tree. */
export async function findFiles(
  pool: ThreadPool,
  request: FindRequest,
  found: (file: FileWithLines) => void,
): Promise<void> {
  const counter = new Counter(pool, request, found);
  const { guard, root, glob, ignore, signal } = request;
  try {
    await walk(guard, root, { signal, ignore, rest: () => counter.rest() }, ({ path, name, type }) => {
      if (type === "file" && glob?.matches(path, name, false) !== false) counter.add(path);
      return signal.aborted ? "stop" : undefined;
    });
  } finally {
    // The threads use the root's descriptor, so they end before it is closed.
    await counter.settle();
  }
  await counter.finish();
}

/** Hands files to threads, batch by batch. */
class Counter {
  readonly #pool: ThreadPool;
  readonly #request: FindRequest;
  readonly #found: (file: FileWithLines) => void;
  readonly #running = new Set<Promise<void>>();
  #batch: string[] = [];

  constructor(pool: ThreadPool, request: FindRequest, found: (file: FileWithLines) => void) {
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
    const { signal } = this.#request;
    if (this.#batch.length > 0 && !signal.aborted) this.#send();
    await this.settle();
    signal.throwIfAborted();
  }

  #send(): void {
    const job = this.#count(this.#batch).catch(this.#request.abort);
    this.#batch = [];
    this.#running.add(job);
    void job.then(() => this.#running.delete(job));
  }

  async #count(paths: readonly string[]): Promise<void> {
    const { root, pattern, signal } = this.#request;
    const { realPath } = root;
    const counts = await this.#pool.run("count", { pattern, at: root.entry(""), realPath, paths }, signal);
    for (const [index, lines] of counts.entries()) {
      const path = paths[index];
      if (lines > 0 && path !== undefined) this.#found({ path, lines });
    }
    // The others got their turn first.
    if (counts.length < paths.length) await this.#count(paths.slice(counts.length));
  }
}
