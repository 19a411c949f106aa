import type { Reader } from "../store/store.ts";
import { fold, wordsOf } from "../text.ts";
import { type EntityRow, idsOf, type ObservationRow, type Within } from "../types.ts";
import type { IndexedWord } from "./words.ts";

/** A word in more facts than this counts only in the newest, or in those that have a rarer word. */
const MAX_ROWS = 2_000;
/** How many facts and how many entities are compared for an answer and its next pages. */
const MAX_RANKED = 1_000;
/** How many of the best facts are compared with their neighbors. */
const MAX_NEIGHBORED = 200;
/** A fact gets this share of the better one of its neighbors of the same call, which is often about the same. */
const NEIGHBOR_SHARE = 0.4;
/** A fact with less than half of the best score only has a common word; of an entity that was named, a quarter will do. */
const [MIN_SHARE, MIN_OWN_SHARE] = [0.5, 0.25];
/** If more entities have as much of their names in the query, it is only a common word that they share. */
const MAX_NAMED = 3;

/** A fact with how well it matches a query. */
interface RankedFact {
  readonly row: ObservationRow;
  readonly score: number;
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
  /** Whether an entity has all words. */
  readonly hasAll: boolean;
}

/** The rows that have a word, and how much it says: the rarer, the more (the IDF of BM25). */
interface Match {
  readonly facts: ReadonlySet<number>;
  readonly entities: ReadonlySet<number>;
  readonly rarity: number;
}

/**
 * The entities that have words of a query, those with the best facts first. A fact has the words of its text and those in
 * the name and the type of its entity; its score is the sum of their rarities, and of equal ones the newer is better.
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
  const ids = best(scores);
  const named = best(scoresOf(matches, "entities"));
  const rows = await withNeighbors(reader, ids.slice(0, MAX_RANKED));
  const byEntity = new Map<number, ObservationRow[]>(
    [...named.slice(0, MAX_RANKED), ...rows.map((row) => row.entityId)].map((id) => [id, []]),
  );
  for (const row of rows) byEntity.get(row.entityId)?.push(row);
  const entities = await reader.entitiesById([...byEntity.keys()]);
  const candidates = [...entities.values()].filter((entity) => isWithin(entity, within));
  const names = namesIn(candidates, query);
  const beyond = matches.filter(({ entities }) => ![...names].some((id) => entities.has(id)));
  const topics = scoresOf(beyond, "facts");
  const ranked = candidates.map((entity) => {
    const facts = rankFacts(entity, byEntity.get(entity.id) ?? [], matches, { scores, topics });
    const has = matches.filter(
      (match) => match.entities.has(entity.id) || facts.some(({ row }) => match.facts.has(row.id)),
    );
    const score = facts[0]?.score ?? sumOf(has);
    const hasAll = has.length === matches.length;
    return { entity, isNamed: names.has(entity.id), score, facts, hasAll };
  });
  return {
    entities: withoutNearMisses(ranked, topics).sort(bestFirst),
    isMinimum: ids.length > MAX_RANKED || named.length > MAX_RANKED,
    hasAll: ranked.some(({ hasAll }) => hasAll),
  };
}

/** Entities with the facts that have more than a common word, or for those of others, more than the name in the query. */
function withoutNearMisses(
  ranked: readonly RankedEntity[],
  topics: ReadonlyMap<number, number>,
): RankedEntity[] {
  const most = Math.max(0, ...ranked.map(({ score }) => score));
  const all = ranked.flatMap(({ facts }) => facts.map(({ row }) => topics.get(row.id) ?? 0));
  const leastTopic = MIN_OWN_SHARE * all.reduce((max, topic) => Math.max(max, topic), 0);
  return ranked.flatMap((entity) => {
    const { isNamed, score, facts } = entity;
    const good = facts.filter((fact) =>
      isNamed
        ? fact.score >= MIN_OWN_SHARE * most
        : fact.score >= MIN_SHARE * most && (topics.get(fact.row.id) ?? 0) >= leastTopic,
    );
    const isAlone = facts.length === 0 && score >= MIN_SHARE * most;
    return isNamed || good.length > 0 || isAlone ? [{ ...entity, facts: good }] : [];
  });
}

async function matchesOf(reader: Reader, words: readonly IndexedWord[]): Promise<Match[]> {
  const { entities, observations } = await reader.counts();
  const all = [];
  for (const { terms } of words) {
    const facts = await reader.connection.matching("observations", [terms], MAX_ROWS + 1);
    const names = await reader.connection.matching("entities", [terms], MAX_ROWS + 1);
    all.push({ terms, facts, names, isCommon: facts.length > MAX_ROWS });
  }
  const rare = all.flatMap(({ terms, isCommon }) => (isCommon ? [] : terms));
  const matches = [];
  for (const { terms, facts, names, isCommon } of all) {
    const count = facts.length + names.length;
    const others = rare.length > 0 ? [terms, rare] : all.map((word) => word.terms);
    const both = isCommon ? await reader.connection.matching("observations", others, MAX_ROWS) : [];
    matches.push({
      facts: new Set(isCommon && rare.length > 0 ? both : [...facts, ...both]),
      entities: new Set(names),
      rarity: Math.log(1 + (entities + observations - count + 0.5) / (count + 0.5)),
    });
  }
  return matches;
}

/** The sum of the rarities of its words for each row that has any. */
function scoresOf(matches: readonly Match[], kind: "facts" | "entities"): Map<number, number> {
  const scores = new Map<number, number>();
  for (const match of matches)
    for (const id of match[kind]) scores.set(id, (scores.get(id) ?? 0) + match.rarity);
  return scores;
}

/** The ids of the rows with the best scores first, the newest of equal ones. */
function best(scores: ReadonlyMap<number, number>): number[] {
  return [...scores].sort(([a, one], [b, other]) => other - one || b - a).map(([id]) => id);
}

const sumOf = (matches: readonly Match[]) => matches.reduce((sum, { rarity }) => sum + rarity, 0);

/** Current facts, and for the first ones those before and after them. */
async function withNeighbors(reader: Reader, ids: readonly number[]): Promise<ObservationRow[]> {
  const near = ids.slice(0, MAX_NEIGHBORED).flatMap((id) => [id - 1, id + 1]);
  return reader.observationsById([...new Set([...ids, ...near])], "current");
}

/** Facts of an entity, best first: by the words of their texts, its name and type, and their neighbors. */
function rankFacts(
  entity: EntityRow,
  rows: readonly ObservationRow[],
  matches: readonly Match[],
  { scores, topics }: Readonly<Record<"scores" | "topics", ReadonlyMap<number, number>>>,
): RankedFact[] {
  const own = matches.filter(({ entities }) => entities.has(entity.id));
  const calls = new Map(rows.map(({ id, createdAt }) => [id, createdAt]));
  const ranked = rows.map((row) => {
    const near = [row.id - 1, row.id + 1].filter((id) => calls.get(id) === row.createdAt);
    // That two facts have the same name says nothing about them.
    const neighbor = Math.max(0, ...near.map((id) => topics.get(id) ?? 0));
    const named = sumOf(own.filter(({ facts }) => !facts.has(row.id)));
    return { row, score: (scores.get(row.id) ?? 0) + named + NEIGHBOR_SHARE * neighbor };
  });
  return ranked
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || newestFirst(one.row, other.row));
}

/** Newer observations first. */
export function newestFirst(one: ObservationRow, other: ObservationRow): number {
  return other.createdAt - one.createdAt || other.id - one.id;
}

/** Better entities first, of equal ones those that the query names, then those that changed last. */
function bestFirst(a: RankedEntity, b: RankedEntity): number {
  const byScore = b.score - a.score || Number(b.isNamed) - Number(a.isNamed);
  return byScore || b.entity.updatedAt - a.entity.updatedAt || b.entity.id - a.entity.id;
}

function isWithin({ type, updatedAt }: EntityRow, { types, since, until }: Within): boolean {
  const isTyped = types === undefined || types.includes(type);
  return isTyped && updatedAt >= (since ?? -Infinity) && updatedAt <= (until ?? Infinity);
}

/** The ids of the entities with the largest part of their names in a query. */
function namesIn(entities: readonly EntityRow[], query: readonly string[]): ReadonlySet<number> {
  const asked = new Set(query.flatMap(wordsOf));
  const shares = entities.map(({ id, name }) => {
    const words = wordsOf(fold(name));
    return { id, share: words.filter((word) => asked.has(word)).length / words.length };
  });
  const most = Math.max(Number.MIN_VALUE, ...shares.map(({ share }) => share));
  const named = shares.filter(({ share }) => share === most);
  return new Set(named.length > MAX_NAMED ? [] : idsOf(named));
}
