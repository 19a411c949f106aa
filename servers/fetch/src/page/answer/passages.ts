import { clip } from "@refmcp/boundary/answer";
import { outlineOf } from "../read/outline.ts";

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

/** A passage has about as many characters: enough for an answer with its context, and few enough for several. */
const PASSAGE_CHARS = 700;
const MAX_PASSAGE_CHARS = 1_050;
/** Characters of all texts; the rest of longer ones is not searched. */
const MAX_CHARS = 3_000_000;
/** Parameters of BM25 with their usual values (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;
/** How much more a word counts in the headings above a passage than in the passage. */
const HEADING_WEIGHT = 1.5;
/** Passages with a smaller share of the best one's score do not answer the question. */
const MIN_SHARE = 0.25;
const COMMON_WORDS = new Set(
  (
    "a an and are as at be been but by can could did do does for from had has have how i if in into is it its may me my no not of on or " +
    "our should so than that the their them then there these they this to was we were what when where which who whom whose why will " +
    "with would you your"
  ).split(" "),
);

/**
 * The passages of texts that share the most words with a question, within `budget` characters: by BM25 over all passages, with
 * the headings above each, and by how much of the question they cover. The best first; neighbors are joined.
 */
export function passagesFor(
  question: string,
  sources: readonly Source[],
  budget: number,
): Passage[] {
  const asked = [...new Set(wordsOf(question))];
  const content = asked.filter((word) => !COMMON_WORDS.has(word));
  const terms = content.length > 0 ? content : asked;
  const max = Math.floor(MAX_CHARS / Math.max(1, sources.length));
  const rows = sources
    .flatMap(({ url, text }) => splitText({ url, text: text.slice(0, max) }))
    .map((chunk, order) => {
      const body = countsOf(wordsOf(chunk.text));
      const above = countsOf(wordsOf(chunk.headings.join(" ")));
      const counts = terms.map(
        (term) => (body.get(term) ?? 0) + Math.min(2, above.get(term) ?? 0) * HEADING_WEIGHT,
      );
      return { chunk, order, counts, length: body.size };
    });
  const average = rows.reduce((sum, { length }) => sum + length, 0) / Math.max(1, rows.length);
  const rarity = terms.map((_, at) => {
    const holding = rows.filter(({ counts }) => counts[at] !== 0).length;
    return Math.log(1 + (rows.length - holding + 0.5) / (holding + 0.5));
  });
  const total = rarity.reduce((sum, one) => sum + one, 0);
  const ranked = rows
    .map(({ chunk, order, counts, length }) => {
      const parts = rarity.map((weight, at) => {
        const count = counts[at] ?? 0;
        return (weight * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / average));
      });
      const covered = rarity.reduce(
        (sum, weight, at) => (counts[at] === 0 ? sum : sum + weight),
        0,
      );
      return {
        chunk,
        order,
        score: parts.reduce((sum, part) => sum + part, 0) * (0.5 + covered / total),
      };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.order - other.order);
  const least = (ranked[0]?.score ?? 0) * MIN_SHARE;
  const chosen: Chunk[] = [];
  let left = budget;
  for (const { chunk, score } of ranked) {
    // With the line above it.
    const cost = chunk.text.length + chunk.url.length + chunk.headings.join(" > ").length + 30;
    if (score < least || (cost > left && chosen.length > 0)) continue;
    left -= cost;
    const near = chosen.find((one) => one.end === chunk.start || chunk.end === one.start);
    if (
      near === undefined ||
      near.url !== chunk.url ||
      near.headings.join() !== chunk.headings.join()
    ) {
      chosen.push({ ...chunk, text: clip(chunk.text, budget) });
      continue;
    }
    const [{ text, start, index }, next] = near.end === chunk.start ? [near, chunk] : [chunk, near];
    const gap = "\n".repeat(Math.min(2, Math.max(1, next.index - index - text.length)));
    Object.assign(near, { start, index, text: text + gap + next.text, end: next.end });
  }
  return chosen;
}

/** A passage with the place of its text, and of the white space around it. */
interface Chunk extends Passage {
  readonly start: number;
  readonly end: number;
}

/** Splits a text between paragraphs, and at headings; a long block, such as a table or code, between its lines. */
function splitText({ url, text }: Source): Chunk[] {
  const outline = new Map(outlineOf(text).map((heading) => [heading.index, heading]));
  const chunks: Chunk[] = [];
  let above: { level: number; title: string }[] = [];
  let start = 0;
  const add = (end: number): void => {
    const part = text.slice(start, end);
    const index = start + part.length - part.trimStart().length;
    const headings = above.map(({ title }) => title);
    if (part.trim() !== "") chunks.push({ url, index, text: part.trim(), headings, start, end });
    start = end;
  };
  let fenced = false;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, Math.min(end, at + 10));
    const heading = outline.get(at);
    if (heading !== undefined) {
      add(at);
      above = [...above.filter(({ level }) => level < heading.level), heading];
    }
    if (/^ {0,3}(?:```|~~~)/.test(line)) fenced = !fenced;
    if (end - start > MAX_PASSAGE_CHARS && at - start >= PASSAGE_CHARS / 2) add(at);
    // One line may be a whole text.
    while (end - start > MAX_PASSAGE_CHARS) add(cutAt(text, start + PASSAGE_CHARS));
    // A paragraph ends with an empty line; the next one may still fit.
    if (line.trim() === "" && !fenced && end - start >= PASSAGE_CHARS / 2) add(end);
    at = end;
  }
  add(text.length);
  return chunks;
}

/** A place near `at` where a sentence or a word ends. */
function cutAt(text: string, at: number): number {
  const near = text.slice(at, at + 200);
  const sentence = /[.!?。！？]\s?/.exec(near);
  const word = /\s/.exec(near);
  const offset =
    sentence === null ? (word === null ? 0 : word.index + 1) : sentence.index + sentence[0].length;
  const code = text.charCodeAt(at + offset);
  return at + offset + (code >= 0xdc00 && code <= 0xdfff ? 1 : 0);
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
  const words: string[] = [];
  // Not the addresses of links.
  for (const [found] of text.replace(/\]\([^()\s]*/g, "] ").matchAll(WORD)) {
    if (UNSPACED.test(found)) {
      const signs = [...found];
      for (const [index, sign] of signs.entries()) words.push(sign + (signs[index + 1] ?? ""));
      continue;
    }
    const parts = found.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").split(/[\s_'’-]+/);
    for (const part of parts) words.push(stem(part.toLowerCase()));
    if (parts.length > 1) words.push(found.toLowerCase());
  }
  return words;
}

function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  return word
    .replace(/(?:ies|ied)$/, "y")
    .replace(/(?<=[^aeious])(?:ings?|edly|ed|ers?|ions?|ly|ments?)$|(?<=[^us])s$/, "")
    .replace(/([^aeiousl])\1$/, "$1")
    .replace(/e$/, "");
}
