/**
 * PostgreSQL's text cannot contain NUL. It is stored as a pair of characters that begins with the last code point of Unicode's
 * private use plane, and that code point itself as another pair. All other text is unchanged.
 */
const MARK = "\u{10fffd}";

/** Converts text to the form that PostgreSQL stores. */
export function toStored(text: string): string {
  if (!text.includes("\0") && !text.includes(MARK)) return text;
  return text.replaceAll(MARK, `${MARK}1`).replaceAll("\0", `${MARK}0`);
}

/** Converts stored text back. */
export function fromStored(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replaceAll(`${MARK}0`, "\0").replaceAll(`${MARK}1`, MARK);
}
