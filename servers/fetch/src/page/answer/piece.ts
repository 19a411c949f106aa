/** A piece of a page's text, between our own lines about the page and about the piece. */
import { clip, digits, oneLine, sizeOf, ToolError } from "@refmcp/boundary/answer";
import type { Snapshot } from "../read/snapshot.ts";
import type { Page } from "../read/views.ts";

/** A part of a page's text as answers show it. */
export interface Piece {
  /** The page's text. */
  readonly text: string;
  /** Our line about the page, before it. */
  readonly head: string;
  /** Whether it is the beginning of the page. */
  readonly isFirst: boolean;
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
    const message = `No more content: the text has ${digits(length)} characters, start_index is ${digits(start)}.`;
    throw new ToolError("invalid", message, {
      hint: "Start at 0, or search for text with fetch_find.",
    });
  }
  const text = clip(page.text.slice(start), max);
  const end = start + text.length;
  const extent =
    length === 0
      ? "The page has no text"
      : start === 0 && end === length
        ? `All ${digits(length)} characters`
        : `Characters ${digits(start)} to ${digits(end)} of ${digits(length)}`;
  const more =
    end < length ? ` Content truncated: call fetch with start_index=${end} to get more.` : "";
  const next =
    end < length || page.next === undefined ? "" : `. Next page: ${urlInHeader(page.next)}`;
  const foot = `[${extent}.${more} Kept as ${snapshot.uri}${next}]`;
  return { text, head: headOf(snapshot, page), isFirst: start === 0, foot };
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
function headOf({ answer, body, encoding, isText }: Snapshot, page: Page): string {
  const quoted = (text: string): string => JSON.stringify(inHeader(text));
  const facts: (string | false | undefined)[] = [
    page.title && quoted(page.title),
    body.mimeType,
    isText && encoding.isGuess && `charset guessed: ${encoding.charset}`,
    page.published && `published ${page.published}`,
    page.pages !== undefined && `${page.pages} pages`,
    page.extractor,
    page.section && `section ${quoted(page.section)}; omit the #fragment for the whole page`,
    page.refresh &&
      `redirects to ${urlInHeader(page.refresh)} (meta refresh); fetch that URL instead`,
    answer.redirects[0] && `redirected from ${urlInHeader(answer.redirects[0].href)}`,
    answer.isCut && `only its first ${sizeOf(answer.body.length)} were downloaded`,
    page.reason && `not converted: ${inHeader(page.reason)}`,
    page.needsJavascript &&
      "needs_javascript: almost no text without a browser; use pw_inspect_page of the playwright server",
    page.hasHidden && "includes text that the page hides until a script shows it",
    ...(page.notes ?? []).map(inHeader),
  ];
  return `[${facts.filter(Boolean).join(" | ")}]`;
}
