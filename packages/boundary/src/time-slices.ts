import { setImmediate } from "node:timers/promises";

/** How long synchronous work may block the event loop before other calls get their turn, in milliseconds. */
const SLICE_MS = 8;

/**
 * Divides long synchronous work into slices: `due` tells when to yield to the event loop; `rest` yields, and throws if
 * the caller cancelled.
 */
export class TimeSlices {
  readonly #signal: AbortSignal | undefined;
  readonly #end: number;
  #sliceEnd: number;
  /** Whether the time for all the work is used up. */
  isLate = false;

  constructor(signal: AbortSignal | undefined, budgetMs = Number.POSITIVE_INFINITY) {
    signal?.throwIfAborted();
    this.#signal = signal;
    const now = performance.now();
    this.#end = now + budgetMs;
    this.#sliceEnd = now + SLICE_MS;
  }

  /** Whether the current slice is over. About 50 ns. */
  isDue(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  async yieldToOthers(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    const now = performance.now();
    this.isLate = now >= this.#end;
    this.#sliceEnd = now + SLICE_MS;
  }
}
