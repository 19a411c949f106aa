import { type CursorCodec, fitCount } from "@refmcp/boundary/answer";

export interface FindRequest {
  /** Words that a note has in this order; case does not matter. */
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

export interface NotesPage {
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
 * @param matches each with its position; one more than the limit where there are more
 */
export function pageOf<Position>(
  matches: readonly (readonly [Note, Position])[],
  { limit, budget }: FindRequest,
  cursors: CursorCodec<Position>,
): NotesPage {
  const notes = matches.map(([note]) => note);
  const page = notes.slice(0, Math.min(limit, fitCount(notes, budget - FRAME)));
  const last = matches[page.length - 1];
  const isMore = last !== undefined && notes.length > page.length;
  return { notes: page, ...(isMore ? { next_cursor: cursors.encode(last[1]) } : {}) };
}
