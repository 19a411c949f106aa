/** The callers with one key: how many have a place, and who waits. */
interface Queue {
  activeCount: number;
  readonly waiters: Set<() => void>;
}

/** Callers that wait, first come, first served, until one of a number of places is free. */
export class Line {
  readonly #places: number;
  readonly #queues = new Map<string, Queue>();

  /** @param places how many callers with the same key have a place at a time; with 1, each waits for all before it */
  constructor(places = 1) {
    this.#places = places;
  }

  /**
   * Runs `work` as soon as a place is free. Callers with different keys do not wait for each other.
   *
   * @param signal until a place is free; `work` must observe it itself
   * @throws the signal's reason, at once, if it aborts before; then what `work` throws
   */
  async run<Result>(
    key: string,
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const queue = this.#queues.get(key) ?? { activeCount: 0, waiters: new Set() };
    this.#queues.set(key, queue);
    if (queue.activeCount < this.#places) queue.activeCount += 1;
    else await turn(queue.waiters, signal);
    try {
      return await work();
    } finally {
      const [next] = queue.waiters;
      if (next !== undefined) next();
      else {
        queue.activeCount -= 1;
        if (queue.activeCount === 0) this.#queues.delete(key);
      }
    }
  }
}

/** Waits until the place of a caller that has finished is passed on. */
function turn(waiters: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiters.delete(begin);
      reject(signal?.reason);
    };
    const begin = () => {
      waiters.delete(begin);
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    waiters.add(begin);
    signal?.addEventListener("abort", leave, { once: true });
  });
}
