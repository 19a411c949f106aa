import { type CursorCodec, fitCount } from "@refmcp/boundary/answer";

export interface FindRequest {
  /** Found in the note in this order; case does not matter. */
  readonly query: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** How many characters the answer may have. */
  readonly budget: number;
  readonly signal: AbortSignal;
}

export interface Note {
  id: string;
  text: string;
}

export interface Found {
  notes: Note[];
  next_cursor?: string;
}

/** Characters of a note that are shown. */
export const MAX_TEXT = 300;
/** What an answer has in addition to its notes, in characters. */
const FRAME = 1_000;

/**
 * One page of notes, and the cursor for the next.
 *
 * @param found each with its position; one more than the limit where there are more
 */
export function pageOf<Position>(
  found: readonly (readonly [Note, Position])[],
  { limit, budget }: FindRequest,
  cursors: CursorCodec<Position>,
): Found {
  const notes = found.map(([note]) => note);
  const page = notes.slice(0, Math.min(limit, fitCount(notes, budget - FRAME)));
  const last = found[page.length - 1];
  const isMore = last !== undefined && notes.length > page.length;
  return { notes: page, ...(isMore ? { next_cursor: cursors.encode(last[1]) } : {}) };
}
