import type { Reader } from "../store/store.ts";
import { fold, wordsOf } from "../text.ts";
import { type EntityRow, idsOf, type ObservationRow, type Within } from "../types.ts";
import { type IndexedWord, missingWords } from "./words.ts";

/** A word in more facts than this counts only in the newest, or in those that have a rarer word. */
const MAX_ROWS = 2_000;
/** How many facts and how many entities are compared for an answer and its next pages. */
const MAX_RANKED = 1_000;
/** How many of the best facts are compared with their neighbors. */
const MAX_NEIGHBORED = 200;
/** A fact gets half of the better one of its neighbors of the same call, which is often about the same. */
const NEIGHBOR_SHARE = 0.5;
/** A fact of an entity that the query names gets this share of the best score: it is more likely what was asked. */
const NAMED_SHARE = 0.3;
/** A fact with less than this share of the best score has only a common word of the query. */
const MIN_SHARE = 0.2;
/** If more entities have as much of their names in the query, it is only a common word that they share. */
const MAX_NAMED = 3;

/** A fact with how well it matches a query. */
interface RankedFact {
  readonly row: ObservationRow;
  readonly score: number;
  /** The part of the score of its text for other words than the names in the query. */
  readonly topic: number;
  /** Whether its text has such a name. */
  readonly hasName: boolean;
}

/** An entity with its facts that match a query, best first. */
export interface RankedEntity {
  readonly entity: EntityRow;
  /** Whether the query has its name. */
  readonly isNamed: boolean;
  readonly score: number;
  readonly facts: readonly RankedFact[];
}

export interface Ranking {
  readonly entities: readonly RankedEntity[];
  /** Whether there may be more that were not compared. */
  readonly isMinimum: boolean;
}

/** The rows that have a word, and how much it says: the rarer, the more (the IDF of BM25). */
interface Match {
  readonly facts: ReadonlySet<number>;
  readonly entities: ReadonlySet<number>;
  readonly rarity: number;
}

/**
 * The entities that have words of a query: first those that it names, then those with the best facts. A fact has the words
 * of its text and those in the name and the type of its entity. Each word counts by its rarity.
 *
 * @param query the words as they were asked, among which names are looked for
 */
export async function rank(
  reader: Reader,
  words: readonly IndexedWord[],
  query: readonly string[],
  within: Within,
): Promise<Ranking> {
  const matches = await matchesOf(reader, words);
  const scores = scoresOf(matches, "facts");
  const [ids, hostIds] = [best(scores), best(scoresOf(matches, "entities"))];
  const rows = await withNeighbors(reader, ids.slice(0, MAX_RANKED));
  const hosts = new Set([...hostIds.slice(0, MAX_RANKED), ...rows.map((row) => row.entityId)]);
  const entitiesById = await reader.entitiesById([...hosts]);
  const entities = [...entitiesById.values()].filter((entity) => isWithin(entity, within));
  const names = namesIn(entities, query);
  const topics = matches.filter((match) => ![...names].some((id) => match.entities.has(id)));
  const facts = rankFacts(rows, matches, { names, scores, topics: scoresOf(topics, "facts") });
  const good = new Map<number, RankedFact[]>(entities.map(({ id }) => [id, []]));
  const isWhole = missingWords(query, words).length === 0;
  for (const fact of withoutNearMisses(facts, names, sumOf(topics), isWhole))
    good.get(fact.row.entityId)?.push(fact);
  const ranked = entities.map((entity) => {
    const own = good.get(entity.id) ?? [];
    const score = own[0]?.score ?? sumOf(matches.filter((match) => match.entities.has(entity.id)));
    return { entity, isNamed: names.has(entity.id), score, facts: own };
  });
  const least = MIN_SHARE * Math.max(0, ...ranked.map(({ score }) => score));
  return {
    entities: ranked.filter(({ isNamed, score }) => isNamed || score > least).sort(bestFirst),
    isMinimum: ids.length > MAX_RANKED || hostIds.length > MAX_RANKED,
  };
}

/** Facts, best first: by the words of their texts, names and types, and their neighbors. */
function rankFacts(
  rows: readonly ObservationRow[],
  matches: readonly Match[],
  {
    names,
    scores,
    topics,
  }: { names: ReadonlySet<number> } & Record<"scores" | "topics", ReadonlyMap<number, number>>,
): RankedFact[] {
  const most = Math.max(0, ...rows.map(({ id }) => scores.get(id) ?? 0));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const ranked = rows.map((row) => {
    const { id, entityId, createdAt } = row;
    const text = scores.get(id) ?? 0;
    const topic = topics.get(id) ?? 0;
    const host = matches.filter((match) => match.entities.has(entityId) && !match.facts.has(id));
    const neighbors = [byId.get(id - 1), byId.get(id + 1)].map((near) =>
      near?.entityId === entityId && near.createdAt === createdAt ? (topics.get(near.id) ?? 0) : 0,
    );
    const bonus = names.has(entityId) ? NAMED_SHARE * most : 0;
    const score = text + sumOf(host) + NEIGHBOR_SHARE * Math.max(...neighbors) + bonus;
    // Sums of the same rarities in another order can differ by less.
    return { row, score: Math.round(score * 1e6) / 1e6, topic, hasName: text > topic };
  });
  return ranked.sort((a, b) => b.score - a.score || newestFirst(a.row, b.row));
}

/**
 * The facts that have more than a common word. If the query names entities, those of others must be about its other words,
 * and about the name too if a fact of the named has all of them.
 *
 * @param isWhole whether each word of the query is in some text; otherwise no fact has all of them
 */
function withoutNearMisses(
  facts: readonly RankedFact[],
  names: ReadonlySet<number>,
  allTopics: number,
  isWhole: boolean,
): RankedFact[] {
  const least = MIN_SHARE * (facts[0]?.score ?? 0);
  const own = facts.filter(({ row }) => names.has(row.entityId)).map(({ topic }) => topic);
  // Sums of the same rarities in another order can differ.
  const isAnswered = isWhole && Math.max(0, ...own) > allTopics - 1e-9;
  return facts.filter(({ row, score, topic, hasName }) => {
    if (score <= least) return false;
    if (names.size === 0 || names.has(row.entityId)) return true;
    return (topic > 0 || allTopics === 0) && (hasName || !isAnswered);
  });
}

async function matchesOf(reader: Reader, words: readonly IndexedWord[]): Promise<Match[]> {
  const size = await reader.size();
  const lookups = [];
  for (const { terms, isSimilar } of words) {
    const facts = await reader.connection.matching("observations", [terms], MAX_ROWS + 1);
    const names = await reader.connection.matching("entities", [terms], MAX_ROWS + 1);
    lookups.push({ terms, facts, names, isSimilar, isCommon: facts.length > MAX_ROWS });
  }
  const rare = lookups.flatMap(({ terms, isCommon }) => (isCommon ? [] : terms));
  const matches = [];
  let least = Number.POSITIVE_INFINITY;
  for (const { terms, facts, names, isSimilar, isCommon } of lookups) {
    const count = facts.length + names.length;
    const others = rare.length > 0 ? [terms, rare] : lookups.map((word) => word.terms);
    const both = isCommon ? await reader.connection.matching("observations", others, MAX_ROWS) : [];
    const rarity = Math.log(1 + (size - count + 0.5) / (count + 0.5));
    // Similar words, which are last, never say more than those of the query.
    if (!isSimilar) least = Math.min(least, rarity);
    matches.push({
      facts: new Set(isCommon && rare.length > 0 ? both : [...facts, ...both]),
      entities: new Set(names),
      rarity: isSimilar ? Math.min(rarity, least) : rarity,
    });
  }
  return matches;
}

/** For each row with words of the question, the sum of their rarities. */
function scoresOf(matches: readonly Match[], kind: "facts" | "entities"): Map<number, number> {
  const scores = new Map<number, number>();
  for (const match of matches)
    for (const id of match[kind]) scores.set(id, (scores.get(id) ?? 0) + match.rarity);
  return scores;
}

/** The ids of the rows with the best scores first, the newest of equal ones. */
function best(scores: ReadonlyMap<number, number>): number[] {
  return [...scores].sort(([a, score], [b, other]) => other - score || b - a).map(([id]) => id);
}

const sumOf = (matches: readonly Match[]) => matches.reduce((sum, { rarity }) => sum + rarity, 0);

/** Current facts, and for the first ones those before and after them. */
async function withNeighbors(reader: Reader, ids: readonly number[]): Promise<ObservationRow[]> {
  const near = ids.slice(0, MAX_NEIGHBORED).flatMap((id) => [id - 1, id + 1]);
  return reader.observationsById([...new Set([...ids, ...near])], "current");
}

/** Newer observations first. */
export function newestFirst(a: ObservationRow, b: ObservationRow): number {
  return b.createdAt - a.createdAt || b.id - a.id;
}

/** Entities that the query names first, then better ones, of equal ones those that changed last. */
function bestFirst(a: RankedEntity, b: RankedEntity): number {
  const byScore = Number(b.isNamed) - Number(a.isNamed) || b.score - a.score;
  return byScore || b.entity.updatedAt - a.entity.updatedAt || b.entity.id - a.entity.id;
}

function isWithin({ type, updatedAt }: EntityRow, { types, since, until }: Within): boolean {
  const isTyped = types === undefined || types.includes(type);
  return isTyped && updatedAt >= (since ?? -Infinity) && updatedAt <= (until ?? Infinity);
}

/** The ids of the entities with the largest part of their names in a query. */
function namesIn(entities: readonly EntityRow[], query: readonly string[]): ReadonlySet<number> {
  const queryWords = new Set(query.flatMap(wordsOf));
  const shares = entities.map(({ id, name }) => {
    const words = wordsOf(fold(name));
    return { id, share: words.filter((word) => queryWords.has(word)).length / words.length };
  });
  const most = Math.max(Number.MIN_VALUE, ...shares.map(({ share }) => share));
  const nearest = shares.filter(({ share }) => share === most);
  return new Set(nearest.length > MAX_NAMED ? [] : idsOf(nearest));
}
