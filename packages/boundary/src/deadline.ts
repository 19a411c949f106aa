export interface Deadline {
  /** Aborts when the time is over, the parent aborts or `abort` is called. */
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Starts the time again, for work that makes progress. @param ms default: as at the start */
  restart(ms?: number): void;
  /** Releases the timer and the parent; call it when the work is done. */
  end(): void;
}

/** The maximum delay of `setTimeout`, which turns a longer one into 1 ms. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Starts a time limit. `AbortSignal.any([parent, AbortSignal.timeout(ms)])` is not reliable: if only the combined
 * signal references the timeout, Node.js loses it at the next garbage collection. This timer is kept until it fires or
 * `end` is called, and does not keep the process running.
 *
 * @param ms milliseconds; with `Infinity` only the parent and `abort` end the work.
 * @param createReason creates the signal's reason when the time is over; default: that of `AbortSignal.timeout`.
 */
export function startDeadline(
  ms: number,
  parent?: AbortSignal,
  createReason: () => unknown = timeoutError,
): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const cancel = () => controller.abort(parent?.reason);
  const start = (ms: number) =>
    ms > MAX_TIMER_MS ? undefined : setTimeout(() => controller.abort(createReason()), ms).unref();
  let timer = start(ms);
  const end = () => {
    clearTimeout(timer);
    parent?.removeEventListener("abort", cancel);
  };
  signal.addEventListener("abort", end, { once: true });
  if (parent?.aborted === true) cancel();
  else parent?.addEventListener("abort", cancel, { once: true });
  const restart = (now?: number) => {
    if (signal.aborted) return;
    if (now === undefined) timer?.refresh();
    else {
      clearTimeout(timer);
      timer = start(now);
    }
  };
  return { signal, abort: (reason) => controller.abort(reason), restart, end };
}

const timeoutError = () =>
  new DOMException("The operation was aborted due to timeout", "TimeoutError");
