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
const MAX_PASSAGES = 20_000;
/** Parameters of BM25 with their usual values (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;
/** How much more a word counts in the headings above a passage than in the passage. */
const HEADING_WEIGHT = 1.5;
/** Passages with a smaller share of the best one's score do not answer the question. */
const MIN_SHARE = 0.25;
/** Characters that the line above a passage takes with its place. */
const frameOf = ({ url, headings }: Passage): number => url.length + headings.join(" > ").length + 30;

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
export function passagesFor(question: string, sources: readonly Source[], budget: number): Passage[] {
  const all = sources.flatMap(splitText).slice(0, MAX_PASSAGES);
  const asked = [...new Set(wordsOf(question))];
  const content = asked.filter((word) => !COMMON_WORDS.has(word));
  const terms = content.length > 0 ? content : asked;
  const counted = all.map(({ passage }) => ({
    body: countsOf(wordsOf(passage.text), terms),
    above: countsOf(wordsOf(passage.headings.join(" ")), terms),
  }));
  const average = counted.reduce((sum, { body }) => sum + body.length, 0) / Math.max(1, counted.length);
  const rarity = terms.map((_, at) => {
    const holding = counted.filter(
      ({ body, above }) => (body.counts[at] ?? 0) + (above.counts[at] ?? 0) > 0,
    ).length;
    return Math.log(1 + (all.length - holding + 0.5) / (holding + 0.5));
  });
  const total = rarity.reduce((sum, one) => sum + one, 0);
  const ranked = all
    .map(({ passage, order }, index) => {
      const { body, above } = counted[index] ?? { body: countsOf([], terms), above: countsOf([], terms) };
      let score = 0;
      let covered = 0;
      for (const [at, weight] of rarity.entries()) {
        const count = (body.counts[at] ?? 0) + Math.min(2, above.counts[at] ?? 0) * HEADING_WEIGHT;
        if (count === 0) continue;
        covered += weight;
        score += (weight * count * (K1 + 1)) / (count + K1 * (1 - B + (B * body.length) / average));
      }
      return { passage, order, score: score * (0.5 + covered / total) };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || one.order - other.order);
  const least = (ranked[0]?.score ?? 0) * MIN_SHARE;
  let left = budget;
  const chosen: typeof ranked = [];
  for (const candidate of ranked) {
    if (candidate.score < least) break;
    const cost = candidate.passage.text.length + frameOf(candidate.passage);
    if (cost > left && chosen.length > 0) continue;
    chosen.push(candidate);
    left -= cost;
  }
  return joined(chosen).map((passage) => ({
    ...passage,
    text: clip(passage.text, Math.max(1, budget - frameOf(passage))),
  }));
}

/** Joins passages that follow each other under the same headings, at the place of the better one. */
function joined(chosen: readonly { readonly passage: Passage; readonly order: number }[]): Passage[] {
  const rank = new Map(chosen.map(({ order }, index) => [order, index]));
  const groups: { rank: number; end: number; passage: Passage }[] = [];
  for (const { passage, order } of [...chosen].sort((one, other) => one.order - other.order)) {
    const last = groups.at(-1);
    const place = rank.get(order) ?? 0;
    const isNext =
      last?.end === order - 1 && last.passage.headings.join("\n") === passage.headings.join("\n");
    if (last === undefined || !isNext || last.passage.url !== passage.url)
      groups.push({ rank: place, end: order, passage });
    else {
      const gap = "\n".repeat(
        Math.min(2, Math.max(0, passage.index - last.passage.index - last.passage.text.length)),
      );
      last.passage = { ...last.passage, text: last.passage.text + gap + passage.text };
      last.rank = Math.min(last.rank, place);
      last.end = order;
    }
  }
  return groups.sort((one, other) => one.rank - other.rank).map(({ passage }) => passage);
}

/** Splits a text between paragraphs, and at headings; a long block, such as a table or code, between its lines. */
function splitText({ url, text }: Source, sourceIndex: number): { passage: Passage; order: number }[] {
  const outline = outlineOf(text);
  const passages: { passage: Passage; order: number }[] = [];
  const above: { level: number; title: string }[] = [];
  let nextHeading = 0;
  let start = 0;
  const add = (end: number): void => {
    const part = text.slice(start, end);
    const lead = part.length - part.trimStart().length;
    if (part.trim() !== "") {
      const headings = above.map(({ title }) => title);
      const order = sourceIndex * 1_000_000 + passages.length;
      passages.push({ passage: { url, index: start + lead, text: part.trim(), headings }, order });
    }
    start = end;
  };
  let fenced = false;
  let at = 0;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, Math.min(end, at + 10));
    if (outline[nextHeading]?.index === at) {
      add(at);
      const heading = outline[nextHeading];
      nextHeading += 1;
      while (heading !== undefined && (above.at(-1)?.level ?? 0) >= heading.level) above.pop();
      if (heading !== undefined) above.push(heading);
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
  return passages;
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

function countsOf(words: readonly string[], terms: readonly string[]) {
  const counts = terms.map(() => 0);
  for (const word of words) {
    const at = terms.indexOf(word);
    if (at >= 0) counts[at] = (counts[at] ?? 0) + 1;
  }
  return { counts, length: words.length };
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
