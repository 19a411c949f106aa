import { cursorsOf, ToolError } from "@refmcp/core/answer";
import * as z from "zod";
import { Page, type ShownEntity } from "./page.ts";
import type { Reader, Store } from "./store.ts";
import { fold, foldedName, hasWord, isWordTerm, snippet, termsOf } from "./text.ts";
import type { EntityRow, MatchMode, Relation } from "./types.ts";

/** Rows of the index that one term looks at; beyond, a term is too common to rank by, and it only filters. */
const CAP = 20_000;
const MOST_TERMS = 32;
const SHOWN_OBSERVATIONS = 10;
const SHOWN_RELATIONS = 50;
const FRAME = 600;

export interface SearchQuery {
  readonly query: string;
  readonly types: readonly string[] | undefined;
  /** Changed at or after, and at or before; milliseconds since 1970. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly budget: number;
}

export interface SearchPage {
  readonly entities: ShownEntity[];
  readonly relations: Relation[];
  /** How many match, or at least that many. */
  readonly total: number;
  readonly total_is_minimum?: true;
  /** Set where no entity has every word: these have some of them. */
  readonly matched?: "some words";
  readonly note?: string;
  readonly next_cursor?: string;
}

interface Ranked {
  readonly ids: number[];
  /** Whether there may be more that were not looked at. */
  readonly isMinimum: boolean;
}

/**
 * Entities in which every word of the query occurs, in the name, the type or the observations, whatever the case and
 * accents: first those with the words as (beginnings of) words, then those with them inside of words; each by rank.
 * Where none has all words, those with the most of them. An empty query gives the newest.
 *
 * @throws ToolError `invalid` for more than 32 words or a cursor of another query.
 */
export async function searchNodes(store: Store, search: SearchQuery): Promise<SearchPage> {
  const { query, types, since, until, limit, budget } = search;
  const terms = termsOf(query);
  if (terms.length > MOST_TERMS)
    throw new ToolError(
      "invalid",
      `The query has ${terms.length} words; at most ${MOST_TERMS} are searched for.`,
      {
        hint: "Give the few words that matter.",
      },
    );
  const cursors = cursorsOf(
    "search_nodes",
    [query, types, since, until],
    z.object({ offset: z.int().min(0) }),
  );
  const offset = cursors.decode(search.cursor)?.offset ?? 0;
  return store.read(async (reader) => {
    const found = await rank(reader, search, terms, offset + limit + 1);
    const rows = await reader.entitiesById(found.ids.slice(offset, offset + limit));
    const page = new Page(budget - FRAME);
    const shown: EntityRow[] = [];
    for (const id of found.ids.slice(offset, offset + limit)) {
      const row = rows.get(id);
      if (row === undefined) continue;
      const entity = await excerpt(reader, row, terms);
      if (!page.reserve(entity)) break;
      page.entities.push(entity);
      shown.push(row);
    }
    const related = await reader.relationsTouching(
      shown.map(({ id }) => id),
      0,
      SHOWN_RELATIONS + 1,
    );
    const fits = related.slice(0, SHOWN_RELATIONS).every((relation) => page.addRelation(relation));
    const next = offset + shown.length;
    return {
      entities: page.entities,
      relations: page.relations,
      total: found.ids.length,
      ...(found.isMinimum ? { total_is_minimum: true as const } : {}),
      ...(found.matchedSome ? { matched: "some words" as const } : {}),
      ...(fits && related.length <= SHOWN_RELATIONS
        ? {}
        : { note: "Not all relations of these entities are shown; open_nodes shows them." }),
      ...(next < found.ids.length && shown.length > 0
        ? { next_cursor: cursors.encode({ offset: next }) }
        : {}),
    };
  });
}

/** An entity with the observations that have the terms, or else its first ones. */
async function excerpt(reader: Reader, row: EntityRow, terms: readonly string[]): Promise<ShownEntity> {
  const observations = await reader.observationsOf([row.id]);
  const matching = observations.filter(({ content }) => {
    const folded = fold(content);
    return terms.some((term) => folded.includes(term));
  });
  const isShort = observations.length <= SHOWN_OBSERVATIONS;
  const chosen = isShort || matching.length === 0 ? observations : matching;
  const texts = chosen.slice(0, SHOWN_OBSERVATIONS).map(({ content }) => snippet(content, terms));
  const clipped = texts.filter((text, index) => text !== chosen[index]?.content).length;
  return {
    name: row.name,
    entityType: row.type,
    observations: texts,
    ...(texts.length === observations.length ? {} : { observation_count: observations.length }),
    ...(clipped === 0 ? {} : { clipped }),
  };
}

/** All matching entities in their order, as far as they were looked for: at least `enough`, where there are. */
async function rank(
  reader: Reader,
  search: SearchQuery,
  terms: readonly string[],
  enough: number,
): Promise<Ranked & { matchedSome: boolean }> {
  if (terms.length === 0) return { ...(await newest(reader, search, enough)), matchedSome: false };
  const byWord = await having(reader, terms, "word", search);
  if (byWord.ids.length >= enough) return { ids: byWord.ids, isMinimum: true, matchedSome: false };
  const anywhere = await having(reader, terms, "substring", search);
  const first = new Set(byWord.ids);
  const ids = [...byWord.ids, ...anywhere.ids.filter((id) => !first.has(id))];
  if (ids.length > 0 || terms.length === 1)
    return { ids, isMinimum: byWord.isMinimum || anywhere.isMinimum, matchedSome: false };
  return { ...(await havingSome(reader, terms, search)), matchedSome: true };
}

async function newest(reader: Reader, { since, until, types }: SearchQuery, enough: number): Promise<Ranked> {
  const rows = await reader.recentEntities({ since, until, types, before: undefined, limit: enough });
  return { ids: rows.map(({ id }) => id), isMinimum: rows.length === enough };
}

/** Entities with every term, best first. */
async function having(
  reader: Reader,
  terms: readonly string[],
  mode: MatchMode,
  search: SearchQuery,
): Promise<Ranked> {
  if (mode === "word" && !terms.every(isWordTerm)) return { ids: [], isMinimum: false };
  const scores = new Map<number, number>();
  const common: string[] = [];
  let started = false;
  let isMinimum = false;
  for (const term of terms) {
    const { matches, complete } = await reader.matches(term, mode, CAP);
    if (!complete && terms.length > 1) {
      common.push(term);
      continue;
    }
    isMinimum ||= !complete;
    intersect(scores, matches, started);
    started = true;
    if (scores.size === 0) return { ids: [], isMinimum: false };
  }
  if (!started) {
    // Every term is common: the newest rows with the first one are candidates.
    const { matches } = await reader.matches(common[0] ?? "", mode, CAP);
    intersect(scores, matches, false);
    isMinimum = true;
  }
  await keepThose(reader, scores, common, mode);
  return { ids: await ordered(reader, scores, search), isMinimum };
}

function intersect(
  scores: Map<number, number>,
  matches: readonly { entityId: number; score: number }[],
  started: boolean,
): void {
  const found = new Map(matches.map(({ entityId, score }) => [entityId, score]));
  if (!started) for (const [id, score] of found) scores.set(id, score);
  else
    for (const [id, score] of scores) {
      const more = found.get(id);
      if (more === undefined) scores.delete(id);
      else scores.set(id, score + more);
    }
}

/** Keeps the candidates in whose texts the common terms occur too. */
async function keepThose(
  reader: Reader,
  scores: Map<number, number>,
  terms: readonly string[],
  mode: MatchMode,
): Promise<void> {
  if (terms.length === 0) return;
  const ids = [...scores.keys()];
  for (let at = 0; at < ids.length; at += 500) {
    const part = ids.slice(at, at + 500);
    const texts = new Map<number, string[]>();
    for (const { id, name, type } of (await reader.entitiesById(part)).values())
      texts.set(id, [fold(name), fold(type)]);
    for (const { entityId, content } of await reader.observationsOf(part))
      texts.get(entityId)?.push(fold(content));
    const has = (text: string, term: string) => (mode === "word" ? hasWord(text, term) : text.includes(term));
    for (const id of part)
      if (!terms.every((term) => texts.get(id)?.some((text) => has(text, term)))) scores.delete(id);
  }
}

/** Entities with any of the terms: those with the most first. */
async function havingSome(reader: Reader, terms: readonly string[], search: SearchQuery): Promise<Ranked> {
  const scores = new Map<number, number>();
  let isMinimum = false;
  for (const term of terms) {
    const { matches, complete } = await reader.matches(term, isWordTerm(term) ? "word" : "substring", CAP);
    isMinimum ||= !complete;
    // One more term outweighs any rank.
    for (const { entityId, score } of matches)
      scores.set(entityId, (scores.get(entityId) ?? 0) + 1_000 + Math.min(score, 900));
  }
  return { ids: await ordered(reader, scores, search), isMinimum };
}

/** By score, an entity of exactly this name before all; filtered by type and time. */
async function ordered(reader: Reader, scores: Map<number, number>, search: SearchQuery): Promise<number[]> {
  const wanted = foldedName(search.query.trim());
  for (const { id, name } of await reader.namesFrom(wanted, 20))
    if (scores.has(id) && foldedName(name) === wanted) scores.set(id, Number.POSITIVE_INFINITY);
  const ids = [...scores].sort(([a, x], [b, y]) => (x === y ? a - b : y > x ? 1 : -1)).map(([id]) => id);
  const { types, since, until } = search;
  if (types === undefined && since === undefined && until === undefined) return ids;
  const rows = await reader.entitiesById(ids);
  return ids.filter((id) => {
    const row = rows.get(id);
    return (
      row !== undefined &&
      (types === undefined || types.includes(row.type)) &&
      (since === undefined || row.updatedAt >= since) &&
      (until === undefined || row.updatedAt <= until)
    );
  });
}
