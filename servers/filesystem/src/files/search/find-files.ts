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
  /** Aborts the signal, so that nothing continues after one part failed. */
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

/** Finds the files with lines that match, in any order, and nothing outside the tree. @throws what a thread failed with. */
export async function findFiles(
  pool: ThreadPool,
  { guard, root, pattern, glob, ignore, signal, abort }: FindRequest,
  found: (file: FileWithLines) => void,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let batch: string[] = [];

  async function count(paths: readonly string[]): Promise<void> {
    const { realPath } = root;
    const counts = await pool.run("count", { pattern, at: root.entry(""), realPath, paths }, signal);
    for (const [index, lines] of counts.entries()) {
      const path = paths[index];
      if (lines > 0 && path !== undefined) found({ path, lines });
    }
    // The others got their turn first.
    if (counts.length < paths.length) await count(paths.slice(counts.length));
  }

  function send(): void {
    const job = count(batch).catch(abort);
    batch = [];
    running.add(job);
    void job.then(() => running.delete(job));
  }

  // To be waited for where the threads are behind.
  const rest = () => (running.size >= pool.width + WAITING ? Promise.race(running) : undefined);
  try {
    await walk(guard, root, { signal, ignore, rest }, ({ path, name, type }) => {
      if (type === "file" && glob?.matches(path, name, false) !== false) batch.push(path);
      if (batch.length >= BATCH) send();
      return signal.aborted ? "stop" : undefined;
    });
  } finally {
    // The threads use the root's descriptor, so they end before it is closed.
    await Promise.all(running);
  }
  if (batch.length > 0 && !signal.aborted) send();
  await Promise.all(running);
  signal.throwIfAborted();
}
