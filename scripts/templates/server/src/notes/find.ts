import { clip, cursorsOf, fitting } from "@refmcp/core/answer";
import * as z from "zod";
import type { Notes } from "./notes.ts";

export interface FindRequest {
  /** Words as they are in the line; case does not matter. */
  readonly query: string;
  /** One note only. */
  readonly path?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** How many characters the answer may have. */
  readonly budget: number;
  readonly signal: AbortSignal;
}

export interface FoundLine {
  path: string;
  /** From 1. */
  line: number;
  /** At most 300 characters of it. */
  text: string;
}

export interface Found {
  lines: FoundLine[];
  next_cursor?: string;
}

/** The note and the line that an answer ended with. */
const position = z.tuple([z.string(), z.number()]);

/** What an answer has besides its lines, in characters. */
const FRAME = 1_000;
const MAX_TEXT = 300;

/**
 * Finds lines, by note and then by line.
 *
 * @throws ToolError as `Notes.lines` does, and `invalid` for a cursor of another search.
 */
export async function findLines(notes: Notes, request: FindRequest): Promise<Found> {
  const { query, path, limit, budget, signal } = request;
  const cursors = cursorsOf("sample_find", [query, path], position);
  const [lastPath, lastLine] = cursors.decode(request.cursor) ?? ["", 0];
  const found: FoundLine[] = [];
  for (const note of path === undefined ? await notes.paths() : [path]) {
    signal.throwIfAborted();
    if (note < lastPath) continue;
    for (const [index, text] of (await notes.lines(note)).entries()) {
      if (note === lastPath && index < lastLine) continue;
      if (!text.toLowerCase().includes(query.toLowerCase())) continue;
      found.push({ path: note, line: index + 1, text: clip(text, MAX_TEXT) });
      if (found.length > limit) break;
    }
    if (found.length > limit) break;
  }
  const lines = found.slice(0, Math.min(limit, fitting(found, budget - FRAME)));
  const last = lines.at(-1);
  return {
    lines,
    ...(last !== undefined && found.length > lines.length
      ? { next_cursor: cursors.encode([last.path, last.line]) }
      : {}),
  };
}
