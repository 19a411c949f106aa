/** Text without tags, in one pass: for pages that would hang a DOM, and for HTML in data. */
import { decodeHTML } from "entities";

/** The text between tags, in one pass. */
export function stripTags(html: string): string {
  let text = "";
  let at = 0;
  let skipping: string | undefined;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) {
      if (skipping === undefined) text += html.slice(at);
      break;
    }
    if (skipping === undefined) text += html.slice(at, open);
    const close = html.indexOf(">", open);
    if (close === -1) break;
    const name = /^<(\/?)(script|style)\b/i.exec(html.slice(open, open + 10));
    if (name?.[1] === "" && skipping === undefined) skipping = name[2]?.toLowerCase();
    else if (name?.[1] === "/" && name[2]?.toLowerCase() === skipping) skipping = undefined;
    if (
      /^<\/?(?:p|div|li|h[1-6]|br|tr|ul|ol|section|article|table)\b/i.test(
        html.slice(open, open + 10),
      )
    )
      text += "\n";
    at = close + 1;
  }
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
