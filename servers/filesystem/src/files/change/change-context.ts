import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { Line, type PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Journal } from "../journal/journal.ts";
import type { ChangeGroup, Receipt, RecordChange, Subject } from "../journal/recording.ts";
import { failure } from "../messages.ts";
import { withPlace } from "../open-path.ts";
import type { Documents } from "../read/documents.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";

export interface ChangeContext {
  readonly guard: PathGuard;
  readonly locks: Locks;
  readonly journal: Journal;
  /** Records a separate change, or in `inGroup` a step of a group. */
  readonly record: RecordChange;
  readonly threads: ThreadPool;
  readonly documents: Documents;
}

/**
 * Runs a call that changes many files as one change, with one id: everything recorded through the context that `work`
 * receives is a step of it. If `work` fails, `takeBack` undoes the steps that were made.
 *
 * @returns what `work` returns, with the receipt; undefined if it changed nothing.
 * @throws what `work` throws; ToolError `conflict` if what it has changed could not be taken back.
 */
export async function inGroup<Value extends object>(
  context: ChangeContext,
  subject: Subject,
  work: (grouped: ChangeContext) => Promise<Value>,
  takeBack: (group: ChangeGroup) => Promise<void>,
): Promise<Value & { readonly receipt: Receipt | undefined }> {
  const group = await context.journal.group(subject);
  try {
    const value = await work({ ...context, record: group.record });
    return { ...value, receipt: await group.end() };
  } catch (error) {
    await takeBack(group).catch(async (cause: unknown) => {
      await group.end();
      const [first, second] = [error, cause].map((one) =>
        one instanceof ToolError ? one.message : "an error",
      );
      const message = `${first} Not everything could be taken back: ${second} What remains is change ${group.id}.`;
      throw failure("half_made", message, { cause });
    });
    throw error;
  }
}

/**
 * Creates directories and any missing parents as one change: `created`, parents first; none if all existed. If one cannot
 * be created, those that were created for this call are removed.
 *
 * @throws what the guard throws.
 */
export async function createDirectory({ guard, record }: ChangeContext, ...given: string[]) {
  const paths: string[] = [];
  for (const one of given) paths.push(await guard.resolve(one));
  const [path = ""] = paths;
  const { created, receipt } = await record(
    { action: "create_directory", path },
    async (recording) => {
      const created: string[] = [];
      try {
        for (const one of paths) created.push(...(await guard.createDirectory(one)));
        if (created.length > 0) await recording.write({ kind: "made", directories: created });
        return { created };
      } catch (error) {
        await removeEmpty(guard, created);
        throw error;
      }
    },
  );
  return { path, created, receipt: created.length === 0 ? undefined : receipt };
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

/** Removes the empty ones of `directories` (outermost first), and returns those, outermost first. */
export async function removeEmpty(
  guard: PathGuard,
  directories: readonly string[],
): Promise<string[]> {
  const removed: string[] = [];
  for (const path of directories.toReversed()) {
    try {
      await withPlace(guard, path, ({ entry }) => rmdir(entry));
      removed.unshift(path);
    } catch {
      // It is in use or gone.
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
  readonly #line = new Line();

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
    const locked = keys.reduceRight<() => Promise<Result>>(
      (next, key) => () => this.#line.run(key, next),
      begin,
    );
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

export function keyOf(path: string): string {
  const normal = path.normalize("NFC");
  return FOLDS_CASE ? normal.toLowerCase() : normal;
}
