/** Callers that wait, in order, until a value is handed to them. */
export class WaitingLine<Value = void> {
  readonly #waiting = new Set<(value: Value) => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /** @throws the signal's reason, at once, if it aborts first. */
  async wait(signal: AbortSignal): Promise<Value> {
    signal.throwIfAborted();
    return await new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(take);
        reject(signal.reason);
      };
      const take = (value: Value) => {
        signal.removeEventListener("abort", leave);
        resolve(value);
      };
      this.#waiting.add(take);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Hands a value to the next caller; false if nobody waits. */
  hand(value: Value): boolean {
    for (const take of this.#waiting) {
      this.#waiting.delete(take);
      take(value);
      return true;
    }
    return false;
  }
}

/** Runs `work` after all earlier work with the same key has ended. */
export type KeyedLock = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** A lock for each key; work with other keys does not wait. */
export function keyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
