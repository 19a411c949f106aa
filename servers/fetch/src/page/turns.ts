import { WaitingLine } from "@refmcp/boundary";

/** Limits how many tasks with the same key run at a time; the others wait in order. */
export class Turns {
  readonly #max: number;
  readonly #busy = new Map<string, { count: number; readonly line: WaitingLine }>();

  constructor(max: number) {
    this.#max = max;
  }

  /** @throws the signal's reason, at once, if the caller cancels while it waits. */
  async take<Result>(key: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    const place = this.#busy.get(key) ?? { count: 0, line: new WaitingLine() };
    this.#busy.set(key, place);
    if (place.count < this.#max) place.count += 1;
    else await place.line.wait(signal);
    try {
      return await work();
    } finally {
      // The slot goes to the next caller, or is freed.
      if (!place.line.hand()) {
        place.count -= 1;
        if (place.count === 0) this.#busy.delete(key);
      }
    }
  }
}
