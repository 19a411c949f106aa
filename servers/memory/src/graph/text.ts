/** Letters that Unicode does not decompose and that people leave out or replace when they type. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ς: "σ",
};
const PLAIN_LETTERS = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "g");
/** Accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs: left out when people type. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u0652]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters separate words, NUL among them.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

/**
 * Text as it is compared in a search: lower case, without accents, compatibility forms unified (full width,
 * ligatures), control characters as spaces. Both stores index this form, so that both find the same.
 */
export function fold(text: string): string {
  // Nearly all names and many facts are ASCII, where the rest does nothing.
  if (/^[\x20-\x7e]*$/.test(text)) return text.toLowerCase();
  return text
    .toWellFormed()
    .normalize("NFKD")
    .toLowerCase()
    .normalize("NFKD")
    .replace(ACCENTS, "")
    .replace(PLAIN_LETTERS, (letter) => PLAIN[letter] ?? letter)
    .replace(CONTROLS, " ");
}

/** The words of a folded text: runs of letters, marks and digits. */
export function wordsOf(folded: string): string[] {
  return folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** The different terms of a query, folded: what stands between spaces. */
export function termsOf(query: string): string[] {
  return [...new Set(fold(query).split(/\s+/u))].filter((term) => term !== "");
}

/** Whether a term can be looked up as a word: it begins and ends with one. `c++` and `#tag` mean their signs too. */
export function isWordTerm(term: string): boolean {
  return /^[\p{L}\p{N}\p{M}](.*[\p{L}\p{N}\p{M}])?$/su.test(term);
}

/** Whether a folded text has a word (or a run of words) that begins with the term's words. */
export function hasWord(folded: string, term: string): boolean {
  const wanted = wordsOf(term);
  if (wanted.length === 0) return false;
  const text = ` ${wordsOf(folded).join(" ")}`;
  return text.includes(` ${wanted.join(" ")}`);
}

/** A folded name as it is indexed for completion and near misses: long ones are cut. */
export function foldedName(name: string): string {
  return fold(name).slice(0, 200).toWellFormed();
}

const SNIPPET = 280;

/**
 * The part of a text around the first of the terms in it, with `…` where something is left out; the whole text
 * where it is short.
 */
export function snippet(text: string, terms: readonly string[], most = SNIPPET): string {
  if (text.length <= most) return text;
  const folded = fold(text);
  const found = terms.map((term) => folded.indexOf(term)).filter((at) => at >= 0);
  // Folding moves positions a little; a snippet only needs the neighbourhood.
  const at = found.length === 0 ? 0 : Math.round((Math.min(...found) / folded.length) * text.length);
  const start = Math.max(0, Math.min(at - Math.floor(most / 3), text.length - most));
  const end = start + most;
  const middle = text.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  return `${start > 0 ? "…" : ""}${middle}${end < text.length ? "…" : ""}`;
}
