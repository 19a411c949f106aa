import { keyedLock } from "@refmcp/core/boundary";

/** The file systems of these platforms ignore letter case by default. */
const FOLDS_CASE = process.platform === "darwin" || process.platform === "win32";

/**
 * One lock per path in this process: only the holder of a path's lock changes it. Locks are granted in
 * request order.
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
      // A cancelled waiter leaves at once; the lock is passed on when its turn comes.
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
