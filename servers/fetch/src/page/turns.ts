/** Limits how many tasks with the same key run at a time; the others wait in order. */
export class Turns {
  readonly #most: number;
  readonly #busy = new Map<string, { count: number; readonly waiting: Set<() => void> }>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws the signal's reason, at once, if the caller cancels while it waits. */
  async take<Result>(key: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    const place = this.#busy.get(key) ?? { count: 0, waiting: new Set() };
    this.#busy.set(key, place);
    if (place.count < this.#most) place.count += 1;
    else
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          place.waiting.delete(enter);
          reject(signal.reason);
        };
        const enter = (): void => {
          signal.removeEventListener("abort", leave);
          resolve();
        };
        place.waiting.add(enter);
        signal.addEventListener("abort", leave, { once: true });
      });
    try {
      return await work();
    } finally {
      const [next] = place.waiting;
      // The slot goes to the next caller, or is freed.
      if (next !== undefined) {
        place.waiting.delete(next);
        next();
      } else {
        place.count -= 1;
        if (place.count === 0) this.#busy.delete(key);
      }
    }
  }
}
