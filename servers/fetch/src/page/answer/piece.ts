import { clip, fitting, grouped, oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { dateOf } from "../read/date.ts";
import { outlineOf } from "../read/outline.ts";
import type { Page, Snapshot } from "../read/snapshot.ts";

/** A part of a page's text as answers show it. */
export interface Piece {
  /** The page's text. */
  readonly text: string;
  /** Our line about the page, before it. */
  readonly head: string;
  /** Our line about the piece, after it. */
  readonly foot: string;
}

/**
 * The part of a text from `start` on, at most `max` characters.
 *
 * @throws ToolError `invalid` if the text ends before `start`.
 */
export function pieceOf(snapshot: Snapshot, page: Page, start: number, max: number): Piece {
  const { length } = page.text;
  if (start > 0 && start >= length) {
    const message = `No more content: the text has ${grouped(length)} characters, start_index is ${grouped(start)}.`;
    throw new ToolError("invalid", message, {
      hint: "Start at 0, or search for text with fetch_find.",
    });
  }
  const clipped = clip(page.text.slice(start), max);
  // A row or an item that was cut would be hard to read, and the next piece too.
  const isCut = page.hasRows === true && start + clipped.length < length;
  const text = isCut ? clipped.slice(0, clipped.lastIndexOf("\n") + 1 || undefined) : clipped;
  const end = start + text.length;
  const shown =
    length === 0
      ? "The page has no text"
      : start === 0 && end === length
        ? `All ${grouped(length)} characters`
        : `Characters ${grouped(start)} to ${grouped(end)} of ${grouped(length)}`;
  const more =
    end < length ? ` Content truncated: call fetch with start_index=${end} to get more.` : "";
  const next =
    end < length || page.next === undefined ? "" : `. Next page: ${urlInHeader(page.next)}`;
  const foot = `[${shown}.${more} Kept as ${snapshot.uri}${next}]`;
  return { text, head: headOf(snapshot, page), foot };
}

/** Text from a page for our line of facts, in which brackets and bars have a meaning. */
export const inHeader = (text: string): string =>
  oneLine(text.replace(/[[\]|]/g, (sign) => SIGNS[sign] ?? ""));
const SIGNS: Readonly<Record<string, string>> = { "[": "(", "]": ")", "|": "/" };

/** The same for a URL, which stays valid: only an IPv6 address has brackets. */
export function urlInHeader(href: string): string {
  const { origin } = new URL(href);
  return origin + href.slice(origin.length).replace(/[[\]|]/g, encodeURIComponent);
}

/** Describes a page on one line, with its own text in quotes. */
function headOf(snapshot: Snapshot, page: Page): string {
  const { answer, body, encoding, isText } = snapshot;
  const facts = [
    page.title === undefined ? undefined : JSON.stringify(inHeader(page.title)),
    body.mimeType,
    isText && encoding.isGuess ? `charset guessed: ${encoding.charset}` : undefined,
    page.published === undefined ? undefined : `published ${page.published}`,
    page.pages === undefined ? undefined : `${page.pages} pages`,
    page.extractor,
    page.section === undefined
      ? undefined
      : `section ${JSON.stringify(inHeader(page.section))}; omit the #fragment for the whole page`,
    page.refresh === undefined
      ? undefined
      : `redirects to ${urlInHeader(page.refresh)} (meta refresh); fetch that URL instead`,
    answer.redirects[0] && `redirected from ${urlInHeader(answer.redirects[0].href)}`,
    answer.isCut ? `only its first ${sized(answer.body.length)} were downloaded` : undefined,
    page.reason === undefined ? undefined : `not converted: ${inHeader(page.reason)}`,
    page.needsJavascript
      ? "needs_javascript: almost no text without a browser; use pw_inspect_page of the playwright server"
      : undefined,
    page.hasHidden === true
      ? "includes text that the page hides until a script shows it"
      : undefined,
  ];
  for (const note of page.notes ?? []) facts.push(inHeader(note));
  const line = facts.filter((fact) => fact !== undefined).join(" | ");
  const highlights = highlightsOf(page) ?? [];
  return [line, ...highlights].map((one) => `[${one}]`).join("\n");
}

/** What a page's data says, in short lines. */
export const highlightsOf = ({ highlights }: Page): string[] | undefined =>
  highlights?.map((parts) => clip(parts.map(inHeader).join(" | "), MAX_HIGHLIGHT));
const MAX_HIGHLIGHT = 300;

/** Approximate maximum of everything except the outline, in characters. */
const FACTS_CHARS = 4_000;

/** Everything about a page except its text; as many headings as fit into `budget` characters. */
export function metadataOf(snapshot: Snapshot, page: Page | undefined, budget: number) {
  const { answer, body, encoding, uri, isText } = snapshot;
  const headings = page === undefined ? [] : outlineOf(page.text);
  const outline = headings.slice(0, fitting(headings, budget - FACTS_CHARS));
  return {
    url: answer.url.href,
    redirected_from:
      answer.redirects.length === 0 ? undefined : answer.redirects.map((from) => from.href),
    canonical: page?.canonical === answer.url.href ? undefined : page?.canonical,
    refresh: page?.refresh,
    status: answer.status,
    mime_type: body.mimeType,
    charset: isText ? encoding.charset : undefined,
    charset_guessed: (isText && encoding.isGuess) || undefined,
    bytes: answer.body.length,
    cut: answer.isCut || undefined,
    last_modified: dateOf(answer.headers["last-modified"]),
    title: page?.title,
    byline: page?.byline,
    published: page?.published,
    modified: page?.modified,
    language: page?.language,
    description: page?.description,
    highlights: page && highlightsOf(page),
    next_page: page?.next,
    pages: page?.pages,
    extractor: page?.extractor,
    needs_javascript: page?.needsJavascript || undefined,
    not_converted: page?.reason,
    characters: page?.text.length,
    outline: page === undefined ? undefined : outline,
    headings_left_out: headings.length - outline.length || undefined,
    snapshot: uri,
    fetched_at: new Date(snapshot.fetchedAt).toISOString(),
  };
}
