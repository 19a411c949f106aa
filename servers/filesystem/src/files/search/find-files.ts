import type { GuardedDirectory, PathGuard } from "@refmcp/boundary";
import type { Glob } from "../glob/glob.ts";
import type { IgnoreScope } from "../glob/ignore-scope.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { walk } from "../tree/walk.ts";
import type { TextPattern } from "./text-pattern.ts";

/** The files to search, and the pattern. */
export interface FindRequest {
  readonly guard: PathGuard;
  readonly root: GuardedDirectory;
  readonly pattern: TextPattern;
  /** Selects files; without it, all are searched. */
  readonly glob: Glob | undefined;
  /** The ignore rules that apply at `root`; undefined to search ignored files too. */
  readonly ignore: IgnoreScope | undefined;
  readonly signal: AbortSignal;
  /** Aborts the signal, so that nothing continues after a failure. */
  readonly abort: (reason: unknown) => void;
}

/** A file with matching lines. */
export interface FileWithLines {
  /** Below the root, with `/` between components. */
  readonly path: string;
  /** The number of matching lines. */
  readonly lines: number;
}

/** Files per request to a thread. */
const BATCH = 128;
/** How many batches may wait for a thread before the walk pauses. */
const WAITING = 4;

/** Finds the files of a tree with matching lines, in any order. @throws the error of a thread. */
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
    // Other calls got their turn in between.
    if (counts.length < paths.length) await count(paths.slice(counts.length));
  }

  function send(): void {
    const job = count(batch).catch(abort);
    batch = [];
    running.add(job);
    void job.then(() => running.delete(job));
  }

  // Returned so that the walk waits if the threads are behind.
  const rest = () => (running.size >= pool.width + WAITING ? Promise.race(running) : undefined);
  try {
    await walk(guard, root, { signal, ignore, rest }, ({ path, name, type }) => {
      if (type === "file" && glob?.matches(path, name, false) !== false) batch.push(path);
      if (batch.length >= BATCH) send();
      return signal.aborted ? "stop" : undefined;
    });
  } finally {
    // The threads use the root's descriptor, so they must end before it is closed.
    await Promise.all(running);
  }
  if (batch.length > 0 && !signal.aborted) send();
  await Promise.all(running);
  signal.throwIfAborted();
}
