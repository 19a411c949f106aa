/** After this time, in milliseconds, work begins to report its progress, and reports it this often. */
const AFTER_MS = 1_000;

/** Gets how much is done, which increases with each report. */
export type Report = (done: number) => void;

/**
 * Reports the progress of work that takes longer than a second.
 *
 * @returns a function that adds to what is done.
 */
export function reporter(report: Report | undefined, afterMs = AFTER_MS): (count: number) => void {
  let done = 0;
  let next = performance.now() + afterMs;
  return (count) => {
    done += count;
    if (report === undefined || count === 0 || performance.now() < next) return;
    next = performance.now() + afterMs;
    report(done);
  };
}
