/** One piece of work for all who wait for it at the same time; it is cancelled when nobody waits any more. */

export class Shared<Result> {
  readonly #abort = new AbortController();
  readonly #result: Promise<Result>;
  #waiting = 0;

  /** @param ended called when the work has ended, in success or failure. */
  constructor(work: (signal: AbortSignal) => Promise<Result>, ended: () => void) {
    this.#result = work(this.#abort.signal).finally(ended);
  }

  /** @throws the signal's reason; what the work throws. */
  async wait(signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    this.#waiting += 1;
    let stop = () => {};
    const cancelled = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
    });
    try {
      return await Promise.race([this.#result, cancelled]);
    } finally {
      signal.removeEventListener("abort", stop);
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#abort.abort();
    }
  }
}
