import { rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type GuardedFile, keyedLock, type PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Journal } from "../journal/journal.ts";
import { placeOf, withPlace } from "../open-path.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";

/** Shared by all operations that change something. */
export interface ChangeContext {
  readonly guard: PathGuard;
  readonly locks: Locks;
  readonly journal: Journal;
  /** The threads for long operations. */
  readonly threads: ThreadPool;
}

/** Opens the file at `path`, or returns undefined if nothing is there. Close its handle. */
export async function openIfThere(guard: PathGuard, path: string): Promise<GuardedFile | undefined> {
  // Checked first, because the guard's `not_found` searches the directory for similar names.
  const place = await placeOf(guard, path).catch(orNothing);
  if (place?.stat === undefined) return undefined;
  return guard.openFile(path).catch(orNothing);
}

/** Ignores `not_found`; rethrows every other error. */
export function orNothing(error: unknown): undefined {
  if (!(error instanceof ToolError) || error.kind !== "not_found") throw error;
}

/**
 * The real path to lock for `path`: that of the file that a write would change or, if there is none yet, the path that
 * it will get.
 */
export async function lockPath(guard: PathGuard, path: string): Promise<string> {
  const file = await openIfThere(guard, path);
  if (file === undefined) return entryPath(guard, path);
  await file.handle.close();
  return file.realPath;
}

/** The real path of the entry itself; a link is not followed. */
export async function entryPath(guard: PathGuard, path: string): Promise<string> {
  const absolute = await guard.resolve(path);
  const place = await placeOf(guard, absolute).catch(orNothing);
  // If the parent is also missing, everyone who creates both locks the same text.
  return place === undefined ? absolute : join(place.parent.realPath, place.name);
}

/**
 * Creates the parents of `path` and runs `work`; if that fails, removes them again.
 *
 * @param work receives the created directories, outermost first.
 */
export async function withParents<Result>(
  guard: PathGuard,
  path: string,
  create: boolean,
  work: (created: string[]) => Promise<Result>,
): Promise<Result> {
  if (!create) return work([]);
  const created = await guard.createDirectory(dirname(await guard.resolve(path)));
  try {
    return await work(created);
  } catch (error) {
    await removeEmpty(guard, created);
    throw error;
  }
}

/**
 * Removes the empty ones of `directories` (outermost first).
 *
 * @returns those removed, outermost first.
 */
export async function removeEmpty(guard: PathGuard, directories: readonly string[]): Promise<string[]> {
  const removed: string[] = [];
  for (const path of directories.toReversed()) {
    try {
      await withPlace(guard, path, ({ entry }) => rmdir(entry));
      removed.unshift(path);
    } catch {
      // It is in use or gone, so its parents are not empty or do not exist either.
      break;
    }
  }
  return removed;
}

/** The file systems of these platforms ignore letter case by default. */
const FOLDS_CASE = process.platform === "darwin" || process.platform === "win32";

/**
 * One lock per path in this process. Only the holder of a path's lock changes the path. Locks are granted in request
 * order.
 */
export class Locks {
  readonly #lock = keyedLock();

  /**
   * Runs `work` while holding the locks of all `paths` (absolute real paths).
   *
   * @throws the signal's reason if it aborts before the locks are held.
   */
  async hold<Result>(
    paths: readonly string[],
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    // Always in the same order, so that no two callers wait for each other.
    const keys = [...new Set(paths.map(keyOf))].sort();
    let isHeld = false;
    const begin = async () => {
      signal?.throwIfAborted();
      isHeld = true;
      return work();
    };
    const locked = keys.reduceRight<() => Promise<Result>>((next, key) => () => this.#lock(key, next), begin);
    return new Promise((resolve, reject) => {
      // A cancelled waiter leaves at once; the lock passes to the next one.
      const onAbort = () => isHeld || reject(signal?.reason);
      signal?.addEventListener("abort", onAbort);
      void locked()
        .then(resolve, reject)
        .finally(() => signal?.removeEventListener("abort", onAbort));
    });
  }
}

function keyOf(path: string): string {
  const normal = path.normalize("NFC");
  return FOLDS_CASE ? normal.toLowerCase() : normal;
}
