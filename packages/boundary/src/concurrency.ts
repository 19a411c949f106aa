import { WaitingLine } from "./waiting-line.ts";

/** Limits how many tasks with the same key run at a time; the others wait in order. */
export class ConcurrencyLimit {
  readonly #max: number;
  readonly #active = new Map<string, { count: number; readonly waiting: WaitingLine }>();

  constructor(max: number) {
    this.#max = max;
  }

  /** @throws the signal's reason, at once, if the caller cancels while it waits. */
  async run<Result>(
    key: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const active = this.#active.get(key) ?? { count: 0, waiting: new WaitingLine() };
    this.#active.set(key, active);
    if (active.count < this.#max) active.count += 1;
    else await active.waiting.wait(signal);
    try {
      return await work();
    } finally {
      // The slot goes to the next caller, or is freed.
      if (!active.waiting.hand()) {
        active.count -= 1;
        if (active.count === 0) this.#active.delete(key);
      }
    }
  }
}
