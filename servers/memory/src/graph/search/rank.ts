import { MIN_PREFIX } from "../store/connection.ts";
import type { Reader } from "../store/store.ts";
import { fold, isUnspaced, stemOf } from "../text.ts";
import {
  type EntityRow,
  idsOf,
  type ObservationRow,
  rarityOf,
  type WeightedWord,
  type Within,
} from "../types.ts";

/** How many observations and how many entities are compared for an answer and its next pages. */
export const MAX_RANKED = 1_000;
/** Weight of a word in an entity's name, and in its type; in an observation it is 1. */
const [NAME_WEIGHT, TYPE_WEIGHT] = [2.5, 2.2];
/** Weight in an observation of a word of its entity's name, which says little about which of its facts is meant. */
const OWN_NAME_WEIGHT = 0.1;
/** Weight of a match at the beginning of a longer word, and inside a word; of the word itself it is 1. */
const [BEGINNING_WEIGHT, INSIDE_WEIGHT] = [0.7, 0.6];
/** Weight of a word in the label of an observation (`Ada: See you on Friday`), in addition to that of the match. */
const LABEL_WEIGHT = 4;
const LABEL = /^[^\n:]{1,40}(?=: )/;
/**
 * The share of a word's weight that an observation gets if the one before, after, two before or two after, learned in the same
 * call, has it: they are often about the same thing, and the one after a question is its answer.
 */
const NEIGHBOR_WEIGHTS: ReadonlyMap<number, number> = new Map([
  [-2, 0.3],
  [-1, 0.5],
  [1, 0.3],
  [2, 0.15],
]);
/** Neighbors together add at most this share of a word's weight. */
const MAX_NEIGHBORS = 0.5;
/** A turn of a conversation is an entity of one observation with at most this many characters. */
const MAX_TURN = 500;
/** Turns of a conversation, each an entity of one observation, need their neighbors more: how much more they and the maximum count. */
const [TURN_FACTOR, TURN_MAX_FACTOR] = [2, 3];
/** An entity's second best observation counts this much, next to the best one. */
const SECOND_WEIGHT = 0.15;
/** How much all observations of an entity together count next to its best one, if it has several. */
const WHOLE_WEIGHT = 2;
/** How often a word is in these observations when it counts half of what it can at most (the k of BM25); for a single one, 0.5. */
const [HALF_COUNTED, HALF_COUNTED_ONE] = [1, 0.5];
/** How much a longer entity needs more of a word for that (the b of BM25). */
const LENGTH_SHARE = 0.5;
/** A stem that no observation has is shortened to this length at most. */
const MIN_SHORTENED = 4;
/** How many letters after a stem are looked at. */
const MAX_ENDING = 20;

/** An observation with how well it matches a query. */
interface RankedFact extends ObservationRow {
  readonly score: number;
}

/** An entity with the observations that match a query, best first. */
export interface RankedEntity {
  readonly entity: EntityRow;
  readonly score: number;
  /** How much of the score is from its name and type. */
  readonly nameScore: number;
  /** How many of the words it has. */
  readonly words: number;
  readonly facts: readonly RankedFact[];
}

/**
 * The entities that have words, best first, and those that changed last first among equals. Every observation is ranked on its
 * own: a word counts more the fewer observations have it, little if it is in the entity's name, and in part for neighbors. An
 * entity's rank is from its name, its type, its best observations, and all of them together.
 *
 * @returns the entities, and whether there may be more
 */
export async function rankEntities(
  reader: Reader,
  words: readonly WeightedWord[],
  within: Within,
  limit: number,
): Promise<{ ranked: RankedEntity[]; isMinimum: boolean }> {
  const rare = words.filter(({ isCommon }) => !isCommon);
  const searched = rare.length === 0 ? words : rare;
  const found = await reader.matches("observations", searched, within, limit);
  const named = idsOf(await reader.matches("entities", searched, within, limit));
  const candidates = new Set(idsOf(found));
  const near = [...candidates].flatMap((id) => [
    id,
    ...[...NEIGHBOR_WEIGHTS.keys()].map((by) => id + by),
  ]);
  const rows = await reader.observationsById([...new Set(near)], "current");
  const entityIds = new Set([...named, ...rows.map(({ entityId }) => entityId)]);
  const entities = await reader.entitiesById([...entityIds]);
  const counts = await reader.counts();
  return {
    ranked: rank(words, { entities, named, rows, candidates, total: counts.entities }),
    isMinimum: found.length === limit || named.length === limit,
  };
}

/** The rows that may match; those of `rows` that are not candidates are only neighbors. */
interface Found {
  readonly entities: ReadonlyMap<number, EntityRow>;
  readonly named: readonly number[];
  readonly rows: readonly ObservationRow[];
  readonly candidates: ReadonlySet<number>;
  /** How many entities there are. */
  readonly total: number;
}

/** How well each word matches, 0 to 1. */
type Matches = readonly number[];

function rank(words: readonly WeightedWord[], found: Found): RankedEntity[] {
  const { entities, named, rows, candidates } = found;
  const texts = rows.map(({ content }) => fold(content));
  const columns = words.map((word) => matchesIn(texts, word));
  const none: Matches = words.map(() => 0);
  const own = new Map(
    rows.map((row, at) => [row.id, { row, has: columns.map((column) => column[at] ?? 0) }]),
  );
  const ofEntity = new Map<number, { count: number; length: number }>();
  for (const { entityId, content } of rows) {
    const { count, length } = ofEntity.get(entityId) ?? { count: 0, length: 0 };
    ofEntity.set(entityId, { count: count + 1, length: length + content.length });
  }
  const meanLength =
    rows.reduce((sum, { content }) => sum + content.length, 0) / Math.max(1, ofEntity.size);
  const isTurn = ({ entityId, content }: ObservationRow) =>
    content.length <= MAX_TURN && ofEntity.get(entityId)?.count === 1;
  const labels = new Map<number, Matches>();
  for (const [at, row] of rows.entries()) {
    const label = isTurn(row) ? LABEL.exec(texts[at] ?? "")?.[0] : undefined;
    if (label !== undefined) labels.set(row.id, matchesOf(label, words));
  }
  // The last fact of an entity and the first one of the next have little to do with each other, unless they are turns.
  const isNear = (one: ObservationRow, other: ObservationRow) =>
    one.createdAt === other.createdAt &&
    (one.entityId === other.entityId || (isTurn(one) && isTurn(other)));
  const facts = new Map<number, RankedFact[]>(named.map((id) => [id, []]));
  const names = new Map([...entities.values()].map(({ id, name }) => [id, matchesOf(name, words)]));
  const types = new Map([...entities.values()].map(({ id, type }) => [id, matchesOf(type, words)]));
  // A name is rare among names, even if nearly every observation of its entity has it.
  const nameWords = words.map((word, at) => {
    const count = [...names.values()].filter((has) => (has[at] ?? 0) > 0).length;
    return { ...word, weight: Math.max(word.weight, rarityOf(count, found.total)) };
  });
  const alone = new Map<number, number>();
  for (const { row, has } of own.values()) {
    if (!candidates.has(row.id)) continue;
    const inName = names.get(row.entityId) ?? none;
    const inLabel = labels.get(row.id);
    const [factor, maxFactor] = isTurn(row) ? [TURN_FACTOR, TURN_MAX_FACTOR] : [1, 1];
    const near = [...NEIGHBOR_WEIGHTS].flatMap(([by, share]) => {
      const other = own.get(row.id + by);
      return other !== undefined && isNear(row, other.row)
        ? [{ share: factor * share, has: other.has }]
        : [];
    });
    const scoreOf = (maxNearby: number) =>
      total(words, (at) => {
        const nearby = near.reduce((sum, other) => sum + other.share * (other.has[at] ?? 0), 0);
        const match = (has[at] ?? 0) + ((inLabel?.[at] ?? 0) > 0 ? LABEL_WEIGHT : 0);
        return (
          (match + Math.min(nearby, maxNearby)) * ((inName[at] ?? 0) > 0 ? OWN_NAME_WEIGHT : 1)
        );
      });
    const score = scoreOf(maxFactor * MAX_NEIGHBORS);
    // Neighbors say which fact of an entity is meant, but not which entity: all of its facts together already count.
    alone.set(row.id, isTurn(row) ? score : scoreOf(0));
    const list = facts.get(row.entityId) ?? [];
    list.push({ ...row, score });
    facts.set(row.entityId, list);
  }
  const sums = new Map(
    [...facts].map(([id, list]) => [
      id,
      words.map((_, at) => list.reduce((sum, fact) => sum + (own.get(fact.id)?.has[at] ?? 0), 0)),
    ]),
  );
  // Among entities, a word is rarer or more common than among observations.
  const entityWords = words.map((word, at) => {
    const has = [...sums].filter(
      ([id, sum]) => (sum[at] ?? 0) + (names.get(id)?.[at] ?? 0) + (types.get(id)?.[at] ?? 0) > 0,
    );
    return { ...word, weight: rarityOf(has.length, found.total) };
  });
  const ranked = [...facts].flatMap(([id, list]) => {
    const entity = entities.get(id);
    if (entity === undefined) return [];
    list.sort((one, other) => other.score - one.score || newestFirst(one, other));
    const inName = names.get(id) ?? none;
    const inType = types.get(id) ?? none;
    const inFacts = sums.get(id) ?? none;
    const nameScore =
      NAME_WEIGHT * total(nameWords, (at) => inName[at] ?? 0) +
      TYPE_WEIGHT * total(words, (at) => Math.max(0, (inType[at] ?? 0) - (inName[at] ?? 0)));
    const [first = 0, second = 0] = list
      .map((fact) => alone.get(fact.id) ?? 0)
      .sort((a, b) => b - a);
    const best = first + SECOND_WEIGHT * second;
    const { count = 0, length = 0 } = ofEntity.get(id) ?? {};
    const [weight, halfCounted] = count > 1 ? [WHOLE_WEIGHT, HALF_COUNTED] : [1, HALF_COUNTED_ONE];
    const half =
      halfCounted * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / Math.max(1, meanLength));
    const whole =
      weight * total(entityWords, (at) => (inFacts[at] ?? 0) / ((inFacts[at] ?? 0) + half));
    return {
      entity,
      score: nameScore + best + whole,
      nameScore,
      words: words.filter((_, at) => (inName[at] ?? 0) + (inType[at] ?? 0) + (inFacts[at] ?? 0) > 0)
        .length,
      facts: list,
    };
  });
  return ranked.sort(byScore);
}

const total = (words: readonly WeightedWord[], match: (at: number) => number) =>
  words.reduce((sum, { weight }, at) => sum + weight * match(at), 0);

/** Newer observations first. */
export function newestFirst(one: ObservationRow, other: ObservationRow): number {
  return other.createdAt - one.createdAt || other.id - one.id;
}

/** Better entities first, and those that changed last first among equals. */
function byScore(one: RankedEntity, other: RankedEntity): number {
  const [a, b] = [one.entity, other.entity];
  return other.score - one.score || b.updatedAt - a.updatedAt || b.id - a.id;
}

function matchesOf(text: string, words: readonly WeightedWord[]): Matches {
  const folded = fold(text);
  return words.map((word) => bestMatch(folded, word));
}

/**
 * How well each text has one of the stems, 0 to 1. If none has it, the longest beginning of the stem that one of them has counts
 * in proportion: the index has other stems.
 */
function matchesIn(texts: readonly string[], word: WeightedWord): number[] {
  const found = texts.map((text) => bestMatch(text, word));
  const [stem = ""] = word.stems;
  for (let length = stem.length - 1; length >= MIN_SHORTENED; length--) {
    if (found.some((match) => match > 0)) break;
    const beginning = stem.slice(0, length);
    for (const [index, text] of texts.entries())
      if (matchOf(text, beginning) > INSIDE_WEIGHT) found[index] = length / stem.length;
  }
  return found;
}

/** How well a folded text has a word. As in the index, short words do not match as parts of others. */
function bestMatch(text: string, { as, word, stems }: WeightedWord): number {
  const best = stems.reduce((max, stem) => Math.max(max, matchOf(text, stem)), 0);
  return best === 1 || as !== "word" || word.length >= MIN_PREFIX ? best : 0;
}

const LETTERS = /^[\p{L}\p{N}\p{M}]*/u;

/** How well a folded text has a stem. In scripts without spaces, every character may begin a word. */
function matchOf(text: string, stem: string): number {
  let best = 0;
  for (let at = text.indexOf(stem); at >= 0; at = text.indexOf(stem, at + 1)) {
    const before = text[at - 1] ?? "";
    if (LETTERS.exec(before)?.[0] === before && before !== "" && !isUnspaced(before)) {
      best = Math.max(best, INSIDE_WEIGHT);
      continue;
    }
    const end = at + stem.length;
    const ending = LETTERS.exec(text.slice(end, end + MAX_ENDING))?.[0] ?? "";
    if (ending === "" || isUnspaced(stem) || stemOf(stem + ending) === stem) return 1;
    best = BEGINNING_WEIGHT;
  }
  return best;
}
