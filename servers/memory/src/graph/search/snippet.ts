import { fold } from "../text.ts";
import type { IndexedWord } from "./words.ts";

/** The most characters of a fact in an answer. */
export const MAX_SNIPPET = 280;

/** The part of a text around the first of the words in it, with `…` where text is omitted; a short text in full. */
export function snippet(text: string, words: readonly IndexedWord[]): string {
  if (text.length <= MAX_SNIPPET) return text;
  const folded = fold(text);
  const places = words
    .flatMap(({ word, terms }) => [word, ...terms.map((term) => term.text)])
    .map((word) => folded.indexOf(word))
    .filter((at) => at >= 0);
  // Folding moves positions slightly, which does not matter for a snippet.
  const at =
    places.length === 0 ? 0 : Math.round((Math.min(...places) / folded.length) * text.length);
  const start = Math.max(0, Math.min(at - Math.floor(MAX_SNIPPET / 3), text.length - MAX_SNIPPET));
  const end = start + MAX_SNIPPET;
  const middle = text.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  return `${start > 0 ? "…" : ""}${middle}${end < text.length ? "…" : ""}`;
}
