/** The parts of pages that may answer a question: those that share the most words with it. */
import { clip } from "@refmcp/boundary/answer";
import { outlineOf } from "../read/outline.ts";
import { wholeAt } from "./find.ts";

/** A text in which passages are searched. */
export interface Source {
  readonly url: string;
  readonly text: string;
}

/** A part of a text that may answer a question. */
export interface Passage {
  readonly url: string;
  /** Where it begins in the text: a start_index. */
  readonly index: number;
  readonly text: string;
  /** The headings above it, the outermost first. */
  readonly headings: readonly string[];
}

/** About how long a passage is: enough for an answer with its context, and short enough for several. */
const PASSAGE_CHARS = 700;
const MAX_PASSAGE_CHARS = 1_050;
/** How many characters of all texts are searched. */
const MAX_CHARS = 3_000_000;
/** Parameters of BM25 with their usual values (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;
/** How much more a word counts in the headings above a passage than in the passage, where two are enough. */
const HEADING_WEIGHT = 1.5;
/** Passages with a smaller share of the best one's score do not answer the question. */
const MIN_SHARE = 0.25;
/** Characters of the line above a passage, in addition to its URL and headings. */
const LINE_CHARS = 30;
const COMMON_WORDS = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its may me my no not of on or " +
    "our should so than that the their them then there these they this to was we were what when where which who whom whose why will " +
    "with would you your"
  ).split(" "),
);

/**
 * The passages of texts that share the most words with a question, within `budget` characters: by BM25 over all passages, with
 * the headings above each, and by how much of the question they cover. The best first.
 */
export function passagesFor(
  question: string,
  sources: readonly Source[],
  budget: number,
): Passage[] {
  const max = Math.floor(MAX_CHARS / Math.max(1, sources.length));
  const all = sources.flatMap(({ url, text }) => passagesOf(url, text.slice(0, max)));
  const chosen: Passage[] = [];
  let remaining = budget;
  for (const passage of ranked(question, all)) {
    const { text, url, headings } = passage;
    const cost = text.length + url.length + headings.join(" > ").length + LINE_CHARS;
    if (cost > remaining && chosen.length > 0) continue;
    remaining -= cost;
    chosen.push({ ...passage, text: clip(text, budget) });
  }
  return chosen;
}

/** The passages that share words with a question, the best first. */
function ranked(question: string, passages: readonly Passage[]): Passage[] {
  const words = [...new Set(wordsOf(question))];
  const content = words.filter((word) => !COMMON_WORDS.has(word));
  const terms = content.length > 0 ? content : words;
  const rows = passages.map((passage) => {
    const body = countsOf(wordsOf(passage.text));
    const above = countsOf(wordsOf(passage.headings.join(" ")));
    const counts = terms.map(
      (term) => (body.get(term) ?? 0) + Math.min(2, above.get(term) ?? 0) * HEADING_WEIGHT,
    );
    return { passage, counts, length: body.size };
  });
  const average = sum(rows.map(({ length }) => length)) / Math.max(1, rows.length);
  const rarity = terms.map((_, at) => {
    const holding = rows.filter(({ counts }) => counts[at] !== 0).length;
    return Math.log(1 + (rows.length - holding + 0.5) / (holding + 0.5));
  });
  const scored = rows.map(({ passage, counts, length }) => {
    const norm = K1 * (1 - B + (B * length) / average);
    const parts = rarity.map((weight, at) => {
      const count = counts[at] ?? 0;
      return (weight * count * (K1 + 1)) / (count + norm);
    });
    const covered = sum(rarity.filter((_, at) => counts[at] !== 0)) / sum(rarity);
    return { passage, score: sum(parts) * (0.5 + covered) };
  });
  const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  const least = (best[0]?.score ?? 0) * MIN_SHARE;
  return best.filter(({ score }) => score >= least).map(({ passage }) => passage);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, part) => all + part, 0);

/** Splits a text between paragraphs, and at headings; a long block, such as a table or code, between its lines. */
function passagesOf(url: string, text: string): Passage[] {
  const outline = new Map(outlineOf(text).map((heading) => [heading.index, heading]));
  const passages: Passage[] = [];
  let above: { level: number; title: string }[] = [];
  let start = 0;
  const add = (end: number): void => {
    const part = text.slice(start, end);
    const index = start + part.length - part.trimStart().length;
    const headings = above.map(({ title }) => title);
    if (part.trim() !== "") passages.push({ url, index, text: part.trim(), headings });
    start = end;
  };
  let isFenced = false;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, Math.min(end, at + 10));
    const heading = outline.get(at);
    if (heading !== undefined) {
      add(at);
      above = [...above.filter(({ level }) => level < heading.level), heading];
    }
    if (/^ {0,3}(?:```|~~~)/.test(line)) isFenced = !isFenced;
    if (end - start > MAX_PASSAGE_CHARS && at - start >= PASSAGE_CHARS / 2) add(at);
    // One line may be a whole text.
    while (end - start > MAX_PASSAGE_CHARS) add(sentenceEnd(text, start + PASSAGE_CHARS));
    // A paragraph ends with an empty line; the next one may still fit.
    if (line.trim() === "" && !isFenced && end - start >= PASSAGE_CHARS / 2) add(end);
    at = end;
  }
  add(text.length);
  return passages;
}

/** A place near `at` where a sentence or a word ends. */
function sentenceEnd(text: string, at: number): number {
  const near = text.slice(at, at + 200);
  const end = /[.!?。！？]\s?/.exec(near) ?? /\s/.exec(near);
  return wholeAt(text, at + (end === null ? 0 : end.index + end[0].length));
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const WORD = /[\p{L}\p{N}]+(?:[_'’-][\p{L}\p{N}]+)*/gu;
/** Scripts without spaces between words, whose pairs of signs are compared. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** The words of a text in lower case without most endings of English; an identifier as a whole and in its parts. */
function wordsOf(text: string): string[] {
  // Not the addresses of links.
  return (text.replace(/\]\([^()\s]*/g, "] ").match(WORD) ?? []).flatMap((word) => {
    if (UNSPACED.test(word)) {
      const signs = [...word];
      return signs.map((sign, index) => sign + (signs[index + 1] ?? ""));
    }
    const parts = word.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").split(/[\s_'’-]+/);
    const stems = parts.map((part) => stem(part.toLowerCase()));
    return parts.length > 1 ? [...stems, word.toLowerCase()] : stems;
  });
}

function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  return word
    .replace(/(?:ies|ied)$/, "y")
    .replace(/(?<=[^aeious])(?:ings?|edly|ed|ers?|ions?|ly|ments?)$|(?<=[^us])s$/, "")
    .replace(/([^aeiousl])\1$/, "$1")
    .replace(/e$/, "");
}
