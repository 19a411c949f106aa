/** Text without tags, in linear time: for pages that would hang a DOM, and for HTML in data. */
import { decodeHTML } from "entities";

/** What has no text for a reader; without an end it takes the rest, which keeps this linear. */
const NOT_TEXT = /<(script|style)\b.*?(?:<\/\1\b|$)|<!--.*?(?:-->|$)/gis;
const LINES = /<\/?(?:p|div|li|h[1-6]|br|tr|ul|ol|section|article|table)\b[^<>]*>/gi;

/** The text between tags. */
export function stripTags(html: string): string {
  const text = html
    .replace(NOT_TEXT, "")
    .replace(LINES, "\n")
    .replace(/<[a-z/!?][^<>]*>/gi, "");
  return decodeHTML(text)
    .replace(/[ \t\u00a0]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim();
}

const MAX_VALUE_CHARS = 20_000;

/** Text or HTML as text in one line. */
export function plainText(text: string): string {
  const plain = /<[a-z/!][^<>]*>|&#?\w+;/i.test(text) ? stripTags(text) : text;
  return plain.replace(/\s+/g, " ").trim().slice(0, MAX_VALUE_CHARS);
}
