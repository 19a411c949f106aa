/** Letters that Unicode does not decompose, and their plain substitutes. */
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
/** Latin, Greek and Cyrillic accents, Hebrew points and Arabic vowel signs, which people omit when they type. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u0652]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters separate words, NUL among them.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

/**
 * Text as compared in a search: lower case, without accents, compatibility forms unified (full width,
 * ligatures), control characters as spaces. Both stores index this form, so that both find the same.
 */
export function fold(text: string): string {
  // Nearly all names and many facts are ASCII, where the rest has no effect.
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

/** Characters of scripts without spaces between words, each with its marks. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]\p{M}*/gu;

/**
 * A folded text as both stores index it: characters of scripts without spaces become separate words, so that
 * any run of them is found as a phrase.
 */
export function spaced(folded: string): string {
  return folded.replace(UNSPACED, " $& ");
}

/** Whether a text has characters of scripts without spaces. */
export function isUnspaced(text: string): boolean {
  return text.search(UNSPACED) >= 0;
}

/** The words of a folded text: runs of letters, marks and digits. */
export function wordsOf(folded: string): string[] {
  return folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** Words without meaning for a search, in English and a few other languages. */
const STOP_WORDS = new Set(
  `a about an and any are as at be been being but by can could did do does for from had has have he her hers him his
  how i if in into is it its me my of on or our ours she should so than that the their them then there these they this
  those to us was we were what when where which who whom whose why will with would you your yours
  der das und ist ein eine wie wer wo wann welche welcher hat mit mein meine von zu im le la les des est une que qui quoi
  quand dans avec el los las cual cuando donde quien una para por`.split(/\s+/u),
);

/** Created for the first query that needs it, because that takes 8 ms of CPU time. */
let segmenter: Intl.Segmenter | undefined;

/**
 * The distinct words of a query, folded, without stop words unless there are no others. Text without spaces is split by
 * Unicode's dictionary (UAX 29); punctuation stays with its word (`node.js`) or is separate (`%`).
 */
export function queryWords(query: string): string[] {
  const words = fold(query)
    .split(/\s+/u)
    .flatMap((piece) => {
      if (spaced(piece) !== piece) {
        segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
        return [...segmenter.segment(piece)].flatMap((part) =>
          part.isWordLike === true ? part.segment : [],
        );
      }
      const word = piece.replace(/^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$|['’]s\W*$/gu, "");
      return word === "" ? piece : word;
    })
    .filter((word) => word !== "" && !/^\p{scx=Hira}$/u.test(word));
  const different = [...new Set(words)];
  const meaningful = different.filter(
    (word) => !STOP_WORDS.has(word) && !/^[?!.,;:…–-]+$/.test(word),
  );
  return meaningful.length === 0 ? different : meaningful;
}

/** A word without common English endings, as a prefix of its other forms. The indexes have real stemmers. */
export function stemOf(word: string): string {
  const stem = word.replace(/(?:ies|ing|ed|es|s|e|y)$/, "");
  return stem.length < 3 ? word : stem;
}

/**
 * The forms of a word to compare with stems in an index, if nothing contains it unchanged. None for numbers and codes: one with
 * another digit is a different one.
 */
export function nearForms(word: string): string[] {
  if (/\p{N}/u.test(word)) return [];
  const stem = stemOf(word);
  return stem === word || stem.length < 5 ? [word] : [word, stem];
}

/** How many letters at the beginning of a word `typosOf` changes. */
export const TYPO_LETTERS = 2;

/**
 * Spellings of a word with one typo in its first letters: a letter omitted, swapped with the next, replaced or inserted. The
 * alphabet is that of the first letter: blocks of 32 code points contain a to z, and а to я.
 */
export function typosOf(word: string): string[] {
  const block = (word.codePointAt(0) ?? 0) & ~31;
  const letters = Array.from({ length: 32 }, (_, index) => String.fromCodePoint(block + index));
  return Array.from({ length: TYPO_LETTERS }, (_, at) => {
    const [before, letter, rest] = [word.slice(0, at), word.slice(at, at + 1), word.slice(at + 1)];
    const swapped = before + rest.slice(0, 1) + letter + rest.slice(1);
    return [
      before + rest,
      swapped,
      ...letters.flatMap((one) => [before + one + rest, before + one + letter + rest]),
    ];
  }).flat();
}

/** A folded name as indexed for completion and suggestions, truncated. */
export function foldedName(name: string): string {
  return fold(name).slice(0, 200).toWellFormed();
}

const MAX_SNIPPET = 280;

/**
 * The part of a text around the first of the stems in it, with `…` where text is omitted; a short text in full.
 */
export function snippet(text: string, stems: readonly string[]): string {
  if (text.length <= MAX_SNIPPET) return text;
  const folded = fold(text);
  const found = stems.map((stem) => folded.indexOf(stem)).filter((at) => at >= 0);
  // Folding moves positions slightly, which does not matter for a snippet.
  const at =
    found.length === 0 ? 0 : Math.round((Math.min(...found) / folded.length) * text.length);
  const start = Math.max(0, Math.min(at - Math.floor(MAX_SNIPPET / 3), text.length - MAX_SNIPPET));
  const end = start + MAX_SNIPPET;
  const middle = text.slice(start, end).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  return `${start > 0 ? "…" : ""}${middle}${end < text.length ? "…" : ""}`;
}
