/**
 * Text as Markdown that shows the same characters (CommonMark 0.31, "backslash escapes"). Only what Markdown would take for
 * markup is escaped: `snake_case`, `2 * 3` and `[1]` stay, so that searching for them finds them.
 */

/** A run of whitespace as HTML collapses it; a no-break space stays. */
export const collapseSpaces = (text: string): string => text.replace(/[ \t\r\n\f]+/g, " ");

/** Backslashes and entities that would disappear, marks of code, and what looks like a tag. */
const MARKS = /\\(?=[!-/:-@[-`{-~])|&(?=#?\w{1,31};)|`|<(?=[a-z/!?]|$)/gi;
/** Stars without spaces around them, and underscores not between two letters; the text may go on in another element. */
const EMPHASIS =
  /(?<!\s)\*|\*(?!\s)|(?<![\p{L}\p{N}_])_{1,20}(?!\s)|(?<!\s)_{1,20}(?![\p{L}\p{N}_])/gu;
/** A bracket that begins a link, and a tilde that could end a deletion. */
const LINKS = /\[(?=[^[\]]{0,500}\]\()|(?<!\s)~/g;

/** Escapes a text within a paragraph. */
export function escapeText(text: string): string {
  // Most texts have nothing to escape.
  if (!/[\\&`<*_[~]/.test(text)) return text;
  return text
    .replace(MARKS, "\\$&")
    .replace(EMPHASIS, (signs) => signs.replace(/./g, "\\$&"))
    .replace(LINKS, "\\$&");
}

/** The same for the text of a link or image, which ends at a bracket. */
export const escapeLabel = (text: string): string =>
  escapeText(text).replace(/\\.|[[\]]/gs, (sign) => (sign.length === 1 ? `\\${sign}` : sign));

/** Escapes what would make a heading, list, quote or line of the beginning of a paragraph's lines. */
export function escapeLineStarts(paragraph: string): string {
  return paragraph
    .replace(/^(#{1,6}(?=\s|$)|[+-](?=\s|$)|>|={3,} *$|-{3,} *$)/gm, "\\$1")
    .replace(/^\*(?=\s)/gm, "\\*")
    .replace(/^(\d{1,9})([.)])(?=\s|$)/gm, "$1\\$2");
}

/** Puts a code span in as many backticks as its content needs (CommonMark 0.31, "code spans"). */
export function codeSpan(text: string): string {
  if (text.trim() === "") return "";
  const fence = fenceFor(text, 1);
  const pad = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}

/** A run of backticks that is longer than any in a text. */
export function fenceFor(text: string, least: number): string {
  const runs = text.includes("`") ? (text.match(/`+/g) ?? []) : [];
  const longest = runs.reduce((most, { length }) => Math.max(most, length), 0);
  return "`".repeat(Math.max(least, longest + 1));
}
