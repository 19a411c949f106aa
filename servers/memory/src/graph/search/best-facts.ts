import { fold, spaced } from "../text.ts";
import type { ObservationRow } from "../types.ts";

/** Weight of a word of the entity's own name, which says little about which of its facts is meant. */
const NAME_WEIGHT = 0.1;
/** Weight of a match inside a word; at the beginning of a word it is 1. */
const INSIDE_WEIGHT = 0.5;
/** The share of a score that facts learned in the same call next to it get: they are often about the same thing. */
const NEIGHBOR_WEIGHT = 0.4;
/** A stem that no fact contains is shortened to this length at most. */
const MIN_SHORTENED = 4;

/**
 * The facts of one entity that match a query, best first, and newer ones first if equal; if none matches, all of them. A stem
 * counts more the fewer of these facts contain it.
 */
export function bestFacts(
  facts: readonly ObservationRow[],
  name: string,
  stems: readonly string[],
): ObservationRow[] {
  const texts = facts.map(({ content }) => fold(content));
  const own = fold(name);
  const scores = facts.map(() => 0);
  for (const stem of new Set(stems)) {
    const found = matches(texts, stem);
    const count = found.filter((match) => match > 0).length;
    const weight = Math.log(1 + facts.length / count) * (own.includes(stem) ? NAME_WEIGHT : 1);
    for (const [index, match] of found.entries())
      if (match > 0) scores[index] = (scores[index] ?? 0) + weight * match;
  }
  const ranked = facts.map((fact, index) => {
    const score = scores[index] ?? 0;
    const nearby = [index - 1, index + 1].map((other) =>
      facts[other]?.createdAt === fact.createdAt ? (scores[other] ?? 0) : 0,
    );
    return { fact, index, score, rank: score + NEIGHBOR_WEIGHT * Math.max(...nearby) };
  });
  const matching = ranked.filter(({ score }) => score > 0);
  return (matching.length === 0 ? ranked : matching)
    .sort((one, other) => other.rank - one.rank || other.index - one.index)
    .map(({ fact }) => fact);
}

/** How well each text has a stem, 0 to 1. If none has it, its longest beginning that one of them has counts in proportion. */
function matches(texts: readonly string[], stem: string): number[] {
  const found = texts.map((text) => matchOf(text, stem));
  for (let length = stem.length - 1; length >= MIN_SHORTENED; length--) {
    if (found.some((match) => match > 0)) break;
    const beginning = stem.slice(0, length);
    for (const [index, text] of texts.entries())
      if (matchOf(text, beginning) === 1) found[index] = length / stem.length;
  }
  return found;
}

function matchOf(text: string, stem: string): number {
  let best = 0;
  for (let at = text.indexOf(stem); at >= 0; at = text.indexOf(stem, at + 1)) {
    const before = text[at - 1] ?? "";
    // In scripts without spaces, every character may begin a word.
    if (!/[\p{L}\p{N}\p{M}]/u.test(before) || spaced(before) !== before) return 1;
    best = INSIDE_WEIGHT;
  }
  return best;
}
