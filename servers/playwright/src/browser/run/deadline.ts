import { ToolError } from "@refmcp/core/answer";
import { startDeadline } from "@refmcp/core/boundary";

/** The time of one run: it ends when its milliseconds are over or the caller gives up, whatever the page does. */
export class Deadline {
  readonly #ends: number;
  readonly totalMs: number;
  readonly signal: AbortSignal;
  /** Frees what waits for the end: to be called when the run is done. */
  readonly end: () => void;
  readonly #over: Promise<never>;
  readonly #caller: AbortSignal;

  constructor(milliseconds: number, caller: AbortSignal) {
    this.totalMs = milliseconds;
    this.#caller = caller;
    this.#ends = performance.now() + milliseconds;
    const { signal, end } = startDeadline(milliseconds, caller);
    this.signal = signal;
    this.end = end;
    this.#over = new Promise((_resolve, reject) => {
      const fail = () => reject(this.error());
      if (signal.aborted) fail();
      else signal.addEventListener("abort", fail, { once: true });
    });
    this.#over.catch(() => undefined);
  }

  get leftMs(): number {
    return Math.max(0, this.#ends - performance.now());
  }

  /** Waits for `work` until the time is over; what goes on afterwards ends with its page. */
  async race<Value>(work: Promise<Value>): Promise<Value> {
    work.catch(() => undefined);
    return Promise.race([work, this.#over]);
  }

  /** Waits for `work` at most `milliseconds`; undefined if that was too short. */
  async within<Value>(milliseconds: number, work: Promise<Value>): Promise<Value | undefined> {
    work.catch(() => undefined);
    return this.race(Promise.race([work, sleep(milliseconds).then(() => undefined)]));
  }

  async sleep(milliseconds: number): Promise<void> {
    await this.race(sleep(milliseconds));
  }

  error(): ToolError {
    const { aborted, reason } = this.#caller;
    if (aborted)
      return reason instanceof ToolError ? reason : new ToolError("cancelled", "The run was cancelled.");
    return new ToolError("timeout", `The run did not end within ${this.totalMs} ms.`, {
      hint: "The page may be slow, or busy forever. Raise timeout_ms, or check less in one run.",
    });
  }
}

const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref());
