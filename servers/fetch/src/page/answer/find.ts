/** Finding words in a page, with the text around them. */
import { grouped, sized } from "@refmcp/boundary/answer";
import { outlineOf } from "../read/outline.ts";
import type { Page } from "../read/page.ts";
import type { Snapshot } from "../read/snapshot.ts";
import { fragmentOf } from "./fetch-page.ts";

/** A place in a text where words were found. */
export interface Excerpt {
  /** Where `text` begins, in characters: a start_index. */
  readonly index: number;
  readonly text: string;
  /** The number of matches in it. */
  readonly matches: number;
  /** The heading above the first match. */
  readonly section?: string | undefined;
}

const MAX_MATCHES = 10_000;
/** Excerpts are merged up to this length, or more if the context is larger. */
const MAX_CHARS = 3_000;

/**
 * Finds every occurrence of words in a text, case-insensitive and with any whitespace between them, with `context`
 * characters around it; occurrences whose contexts touch share an excerpt.
 */
export function findIn(
  text: string,
  words: string,
  context: number,
): { excerpts: Excerpt[]; total: number } {
  const escaped = words
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  const pattern = new RegExp(escaped.join("\\s+"), "giu");
  const headings = outlineOf(text);
  const spans: { start: number; end: number; first: number; matches: number }[] = [];
  let total = 0;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    total += 1;
    const start = wordStart(text, Math.max(0, index - context));
    const end = wordEnd(text, Math.min(text.length, index + found.length + context));
    const last = spans.at(-1);
    const isShown = last !== undefined && index + found.length <= last.end;
    const fits =
      last !== undefined &&
      start <= last.end &&
      end - last.start <= Math.max(MAX_CHARS, context * 2);
    if (last !== undefined && (isShown || fits)) {
      if (fits) last.end = Math.max(last.end, end);
      last.matches += 1;
    } else spans.push({ start: Math.max(start, last?.end ?? 0), end, first: index, matches: 1 });
    if (total === MAX_MATCHES) break;
  }
  // Headings and spans are both in text order, so one pass finds the heading above each span.
  let above = -1;
  const excerpts = spans.map(({ start, end, first, matches }) => {
    while ((headings[above + 1]?.index ?? Number.POSITIVE_INFINITY) <= first) above += 1;
    return { index: start, text: text.slice(start, end), matches, section: headings[above]?.title };
  });
  return { excerpts, total };
}

/** What a caller must know about a search of a page: one sentence each. */
export function notesOf(
  url: string,
  total: number,
  { isCut, body }: Snapshot["answer"],
  { needsJavascript }: Page,
): string[] {
  const notes: string[] = [];
  if (fragmentOf(url) !== undefined)
    notes.push("The whole page was searched; indexes are for url, without the #fragment.");
  if (total >= MAX_MATCHES)
    notes.push(`Only the first ${grouped(MAX_MATCHES)} matches are counted.`);
  if (isCut) notes.push(`Only the first ${sized(body.length)} were downloaded.`);
  if (needsJavascript)
    notes.push("needs_javascript: the page has almost no text without a browser.");
  return notes;
}

/** How far a word is looked for, in characters. */
const NEAR = 40;

/** Where the next word begins, if it is near. */
function wordStart(text: string, at: number): number {
  const blank = at === 0 ? -1 : text.slice(at, at + NEAR).search(/\s\S/);
  return blank === -1 ? whole(text, at) : at + blank + 1;
}

/** Where the last word ends, if it is near. */
function wordEnd(text: string, at: number): number {
  const start = Math.max(0, at - NEAR);
  const blank = at >= text.length ? -1 : text.slice(start, at).search(/\s\S*$/);
  return blank === -1 ? whole(text, Math.min(at, text.length)) : start + blank;
}

/** Avoids splitting a surrogate pair. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
