import { Line } from "@refmcp/boundary";

/**
 * One lock per path in this process. Only the holder of a path's lock changes the path. Locks are granted in request
 * order.
 */
export class Locks {
  readonly #line = new Line();

  /**
   * Runs `work` while holding the locks of all `paths` (absolute real paths).
   *
   * @throws the signal's reason if it aborts before the locks are held
   */
  async hold<Result>(
    paths: readonly string[],
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    // Always in the same order, so that no two callers wait for each other; two forms of a name share a lock.
    const keys = [...new Set(paths.map((path) => path.normalize("NFC").toLowerCase()))].sort();
    const locked = keys.reduceRight<() => Promise<Result>>(
      (next, key) => () => this.#line.run(key, next, signal),
      async () => {
        signal?.throwIfAborted();
        return work();
      },
    );
    return locked();
  }
}
