import { ownerOf, TurnQueue } from "./turns.ts";

/** Callers that wait until a value is handed to them: owners take turns, each in order. */
export class WaitingLine<Value = void> {
  readonly #waiting = new TurnQueue<(value: Value) => void>();

  get size(): number {
    return this.#waiting.size;
  }

  /** @throws the signal's reason, at once, if it aborts first. */
  async wait(signal: AbortSignal): Promise<Value> {
    signal.throwIfAborted();
    const owner = ownerOf(signal);
    return await new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(take, owner);
        reject(signal.reason);
      };
      const take = (value: Value) => {
        signal.removeEventListener("abort", leave);
        resolve(value);
      };
      this.#waiting.add(take, owner);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** Hands a value to the caller whose turn it is; false if nobody waits. */
  hand(value: Value): boolean {
    const take = this.#waiting.take();
    take?.(value);
    return take !== undefined;
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
