/** The parts of a call that a run uses. */
export interface Calling {
  readonly signal: AbortSignal;
  readonly leftMs: number;
  progress(done: number, total?: number, note?: string): void;
}

/** The time left for a call's work: the rest is for cleaning up and writing the answer. */
export const workMs = ({ leftMs }: Calling): number => leftMs - Math.min(6_000, leftMs / 4);
