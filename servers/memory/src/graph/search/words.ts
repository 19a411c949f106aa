import { nearest } from "@refmcp/boundary/answer";
import type { Term } from "../store/connection.ts";
import type { Reader } from "../store/store.ts";
import { fold, isStopWord, spaced, wordsOf } from "../text.ts";

/** A word of this length that no text has is taken as a part of longer ones; fewer letters are inside too many words. */
const MIN_PART = 4;
/** Below this length, words a few letters away are different words. */
const MIN_NEAR = 6;
/** How many indexed words may replace a word that is inside them. */
const MAX_PARTS = 8;
/** How many words a few letters away may replace a word. */
const MAX_NEAR = 2;

/** Words that ask for what is new, not for texts that have them. */
const NEWS: ReadonlySet<string> = new Set(
  "new newest news latest recent recently lately last past week month today yesterday happened changed learned".split(
    " ",
  ),
);

/** Created for the first query that needs it, because that takes 8 ms of CPU time. */
let segmenter: Intl.Segmenter | undefined;

/**
 * The distinct words of a query, folded, without stop words unless there are no others; none if it asks for what is new.
 * Text without spaces is split by Unicode's dictionary (UAX 29); punctuation stays with its word (`node.js`).
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
  const meaningful = different.filter((word) => !isStopWord(word) && wordsOf(word).length > 0);
  if (meaningful.length === 0) return different;
  return meaningful.every((word) => NEWS.has(word)) ? [] : meaningful;
}

/** A word of a query with the terms that the index has for it. */
export interface IndexedWord {
  readonly word: string;
  readonly terms: readonly Term[];
  /** Whether these only contain the word or are a few letters away. */
  readonly isSimilar: boolean;
}

/** The words that no text has, not even a part of them between punctuation. */
export function missingWords(words: readonly string[], indexed: readonly IndexedWord[]): string[] {
  const exact = new Set(indexed.flatMap(({ word, isSimilar }) => (isSimilar ? [] : word)));
  return words.filter((word) => ![word, ...wordsOf(word)].some((part) => exact.has(part)));
}

/**
 * Looks words up in the index: unchanged, as beginnings of longer words, by their parts if they have punctuation, as
 * parts of words, then as words a few letters away. Those that it does not have are left out.
 */
export async function lookUp(reader: Reader, words: readonly string[]): Promise<IndexedWord[]> {
  const indexed: IndexedWord[] = [];
  const unknown: string[] = [];
  for (const word of words) {
    const parts = wordsOf(word);
    let own = await exact(reader, word);
    if (own.length === 0 && parts.length > 1)
      for (const part of parts) own = [...own, ...(await exact(reader, part))];
    if (own.length === 0) unknown.push(word);
    indexed.push(...own);
  }
  return unknown.length === 0 ? indexed : [...indexed, ...(await similar(reader, unknown))];
}

/** The first form of a word that any text has. */
async function exact(reader: Reader, word: string): Promise<IndexedWord[]> {
  for (const terms of formsOf(word))
    for (const kind of ["observations", "entities"] as const)
      if ((await reader.connection.matching(kind, [terms], 1)).length > 0)
        return [{ word, terms, isSimilar: false }];
  return [];
}

/** The word itself, the beginning of longer ones, and in scripts without spaces, any two adjacent characters. */
function formsOf(word: string): Term[][] {
  const forms = [[{ text: word, isPrefix: false }]];
  if (word.length >= MIN_PART) forms.push([{ text: word, isPrefix: true }]);
  const characters = spaced(word) === word ? [] : wordsOf(spaced(word));
  if (characters.length > 2)
    forms.push(
      characters.slice(1).map((character, at) => ({
        text: `${characters[at]}${character}`,
        isPrefix: false,
      })),
    );
  return forms;
}

/** Words that contain one of the words, or those a few letters away; a number or a code with another digit is another one. */
async function similar(reader: Reader, unknown: readonly string[]): Promise<IndexedWord[]> {
  const words = unknown.filter((word) => word.length >= MIN_PART || !/\p{scx=Latn}/u.test(word));
  const parts = new Map<string, string[]>(words.map((word) => [word, []]));
  const near = new Map<string, string[]>();
  for await (const stems of reader.connection.vocabulary())
    for (const word of words) {
      const longer = stems.filter((stem) => stem.includes(word));
      parts.set(word, [...(parts.get(word) ?? []), ...longer].slice(0, MAX_PARTS));
      if (word.length < MIN_NEAR || /\p{N}/u.test(word)) continue;
      const nearby = [
        ...(near.get(word) ?? []),
        ...nearest(word, stems),
        ...nearest(stemOf(word), stems),
      ];
      near.set(word, nearest(word, new Set(nearby), MAX_NEAR));
    }
  return words.flatMap((word) => {
    const own = parts.get(word) ?? [];
    const stems = own.length > 0 ? own : (near.get(word) ?? []);
    const terms = stems.map((text) => ({ text }));
    return terms.length === 0 ? [] : [{ word, terms, isSimilar: true }];
  });
}

/** A word without common English endings, as stems in the index are. */
function stemOf(word: string): string {
  const stem = word.replace(/(?:ies|ing|ed|es|s|e|y)$/, "");
  return stem.length < 3 ? word : stem;
}
