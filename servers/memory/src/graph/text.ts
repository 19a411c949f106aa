/** A text as every store keeps it: NUL and half a surrogate pair become U+FFFD. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

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
 * Text as compared in a search: lower case, without accents, compatibility forms unified (full width, ligatures),
 * control characters as spaces. Both stores index this form, so that both find the same.
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
 * A folded text as both stores index it: characters of scripts without spaces become separate words, so that any run of
 * them is found as a phrase.
 */
export function spaced(folded: string): string {
  return folded.replace(UNSPACED, " $& ");
}

/** The words of a folded text: runs of letters, marks and digits. */
export function wordsOf(folded: string): string[] {
  return folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}

/** A folded name as indexed for completion and suggestions, truncated. */
export function foldedName(name: string): string {
  return fold(name).slice(0, 200).toWellFormed();
}

/** Words without meaning for a search, in English and a few other languages. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about an and any are as at be been being but by can could did do does for from had has have he her hers him his
  how i if in into is it its me my of on or our ours she should so than that the their them then there these they this
  those to us was we were what when where which who whom whose why will with would you your yours
  der das und ist ein eine wie wer wo wann welche welcher hat mit mein meine von zu im le la les des est une que qui quoi
  quand dans avec el los las cual cuando donde quien una para por`.split(/\s+/u),
);

/** Whether a folded word says nothing about what a text is about. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
