/** The file systems of these platforms do not tell upper from lower case by default. */
const FOLDS_CASE = process.platform === "darwin" || process.platform === "win32";

/**
 * One lock per path in this process: who holds a path's lock is the only one to change it. Locks are handed on
 * in the order of asking.
 */
export class Locks {
  /** The last holder or waiter of each path; resolves when it is done. */
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Runs `work` while holding the locks of all `paths` (absolute real paths).
   *
   * @throws the signal's reason where it aborts before the locks are held.
   */
  async hold<Result>(
    paths: readonly string[],
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    // All are queued for in one go, without an await in between, so no two callers can wait for each other.
    const keys = [...new Set(paths.map(keyOf))];
    const before = keys.map((key) => this.#tails.get(key));
    const { promise: done, resolve: release } = withResolvers();
    const turn = Promise.all(before);
    // A waiter that gives up still hands the lock on only after those before it.
    const tail = turn.then(() => done);
    for (const key of keys) this.#tails.set(key, tail);
    void tail.then(() => this.#forget(keys, tail));
    try {
      await orAbort(turn, signal);
      return await work();
    } finally {
      release();
    }
  }

  #forget(keys: readonly string[], tail: Promise<void>): void {
    for (const key of keys) {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }

  /** How many paths are locked or waited for. */
  get size(): number {
    return this.#tails.size;
  }
}

function keyOf(path: string): string {
  const normal = path.normalize("NFC");
  return FOLDS_CASE ? normal.toLowerCase() : normal;
}

/** Waits for `turn`, but no longer than until the signal aborts. */
async function orAbort(turn: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) {
    await turn;
    return;
  }
  signal.throwIfAborted();
  const { promise: aborted, resolve } = withResolvers();
  signal.addEventListener("abort", resolve, { once: true });
  await Promise.race([turn, aborted]);
  signal.removeEventListener("abort", resolve);
  signal.throwIfAborted();
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
