/** Finding words in a page, with the text around them. */
import { digits, sizeOf } from "@refmcp/boundary/answer";
import { outlineOf } from "../read/outline.ts";
import type { Snapshot } from "../read/snapshot.ts";
import type { Page } from "../read/views.ts";

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
  const spans: { start: number; end: number; first: number; matches: number }[] = [];
  let total = 0;
  for (const { 0: match, index } of text.matchAll(pattern)) {
    total += 1;
    const after = index + match.length;
    const start = edgeBefore(text, index - context);
    const end = edgeAfter(text, after + context);
    const last = spans.at(-1);
    const max = Math.max(MAX_CHARS, context * 2);
    const fits = last !== undefined && start <= last.end && end - last.start <= max;
    if (last !== undefined && (fits || after <= last.end)) {
      if (fits) last.end = Math.max(last.end, end);
      last.matches += 1;
    } else spans.push({ start: Math.max(start, last?.end ?? 0), end, first: index, matches: 1 });
    if (total === MAX_MATCHES) break;
  }
  // Headings and spans are both in text order, so one pass finds the heading above each span.
  const headings = outlineOf(text);
  let above = -1;
  const excerpts = spans.map(({ start, end, first, matches }) => {
    while ((headings[above + 1]?.index ?? Number.POSITIVE_INFINITY) <= first) above += 1;
    return { index: start, text: text.slice(start, end), matches, section: headings[above]?.title };
  });
  return { excerpts, total };
}

/** What a caller must know about a search, in a sentence each. */
export function searchNotes(
  url: string,
  total: number,
  { answer: { isCut, body } }: Snapshot,
  { extractor, needsJavascript }: Page,
): string | undefined {
  const isPart = /^(?:main content|page without navigation)$/.test(extractor);
  const notes: (string | false)[] = [
    /#./.test(url) && "The whole page was searched; indexes are for url, without the #fragment.",
    total === 0 && isPart && `Only the ${extractor} was searched: selector body searches all.`,
    total >= MAX_MATCHES && `Only the first ${digits(MAX_MATCHES)} matches are counted.`,
    isCut && `Only the first ${sizeOf(body.length)} were downloaded.`,
    needsJavascript && "needs_javascript: the page has almost no text without a browser.",
  ];
  return notes.filter(Boolean).join(" ") || undefined;
}

/** How far a word is looked for, in characters. */
const NEAR = 40;

/** Where the next word begins, if it is near; not within a surrogate pair. */
function edgeBefore(text: string, index: number): number {
  const at = Math.max(0, index);
  const blank = at === 0 ? -1 : text.slice(at, at + NEAR).search(/\s\S/);
  return blank === -1 ? wholeAt(text, at) : at + blank + 1;
}

/** Where the last word ends, if it is near; not within a surrogate pair. */
function edgeAfter(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const start = Math.max(0, at - NEAR);
  const blank = text.slice(start, at).search(/\s\S*$/);
  return blank === -1 ? wholeAt(text, at) : start + blank;
}

/** A place that does not split a surrogate pair. */
export function wholeAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
