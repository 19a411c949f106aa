import { startDeadline } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";

/** The parts of a call that a run uses. */
export interface Calling {
  readonly signal: AbortSignal;
  readonly leftMs: number;
  progress(done: number, total?: number, note?: string): void;
}

/** The time left for a call's work: the rest is for cleaning up and writing the answer. */
export const workMs = ({ leftMs }: Calling): number =>
  Math.floor(leftMs - Math.min(6_000, leftMs / 4));

const SLOW_PAGE =
  "The page may be slow or in an endless loop. Raise timeout_ms, or check less in one run.";

/** The deadline of one run: it ends after its time limit or when the caller cancels, even if the page hangs. */
export class Deadline {
  readonly #ends: number;
  readonly totalMs: number;
  readonly signal: AbortSignal;
  /** Releases the timer; call it when the run is done. */
  readonly end: () => void;
  readonly #over: Promise<never>;
  readonly #caller: AbortSignal;
  readonly #hint: string;

  /** @param hint what to do if the time was not enough. */
  constructor(milliseconds: number, caller: AbortSignal, hint = SLOW_PAGE) {
    this.totalMs = milliseconds;
    this.#caller = caller;
    this.#hint = hint;
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

  /** Waits for `work` until the deadline; remaining work ends with its page. */
  async race<Value>(work: Promise<Value>): Promise<Value> {
    work.catch(() => undefined);
    return Promise.race([work, this.#over]);
  }

  /** Waits at most `milliseconds` for `work`; undefined on timeout. */
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
      return reason instanceof ToolError
        ? reason
        : new ToolError("cancelled", "The run was cancelled.");
    return new ToolError("timeout", `The run did not end within ${this.totalMs} ms.`, {
      hint: this.#hint,
    });
  }
}

const sleep = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds).unref());
