/** A busy thread's progress: the indexes of its numbers, which are in memory shared with the pool. */
export const PROGRESS = {
  /** Increases with each piece of work. */
  ticks: 0,
  /** The index of the current file. */
  file: 1,
  /** 1 if the thread should return its results so far, so that other calls get their turn. */
  hurry: 2,
} as const;
