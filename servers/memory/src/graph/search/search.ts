import { cursorsOf, nearest, ToolError } from "@refmcp/boundary/answer";
import { quoteAll } from "../read/names.ts";
import { idOf, learnedAs, learnedOn, naturals, Page, type ShownEntity } from "../read/page.ts";
import type { Reader, Store } from "../store/store.ts";
import { fold, foldedName, queryWords, snippet, wordsOf } from "../text.ts";
import {
  type EntityRow,
  idsOf,
  type ObservationRow,
  type WeightedWord,
  type Within,
} from "../types.ts";
import { MAX_RANKED, newestFirst, type RankedEntity, rankEntities } from "./rank.ts";

const MAX_WORDS = 32;
/** An entity that lacks some of the words needs at least this share of the best score: below, it only matches a common word. */
const MIN_SCORE = 0.3;
/** How many characters of observations an answer has for each entity that it may show: 2,000 by default. */
const CHARS_PER_ENTITY = 100;
/** Entities with at most this many observations show also those that do not match, if there is room. */
const MAX_SHORT = 10;
/** With fewer characters left, no further observations are looked for. */
const MIN_LEFT = 20;
/** A question names at most this many entities; more only have a common word in their names. */
const MAX_NAMED = 3;
const SHOWN_RELATIONS = 50;
const FRAME = 900;

export interface SearchQuery extends Within {
  readonly query: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
}

/** The words of a query: those that the index has or that are similar to it, the latter, and those without matches. */
type Words = {
  known: WeightedWord[];
  similar: string[];
  unknown: string[];
};

/**
 * The entities that match a query best, with their best facts: see `rankEntities`; an exact name comes first. Words are compared
 * by their stems, ignoring case and accents, and match longer words that start with them. A word without matches is replaced by
 * words that contain it, or by words a few letters away. An empty query returns the newest.
 *
 * @throws ToolError `invalid` for more than 32 words or a cursor of another query.
 */
export async function searchNodes(store: Store, search: SearchQuery) {
  const { query, types, since, until, limit, budget } = search;
  const words = queryWords(query);
  if (words.length > MAX_WORDS)
    throw new ToolError(
      "invalid",
      `The query has ${words.length} words; at most ${MAX_WORDS} are allowed.`,
      {
        hint: "Use only the most important words.",
      },
    );
  const cursors = cursorsOf("search_nodes", [query, types, since, until], naturals("offset"));
  const offset = cursors.decode(search.cursor)?.offset ?? 0;
  return store.read(async (reader) => {
    const enough = Math.max(MAX_RANKED, offset + limit) + 1;
    const found = await lookUpAll(reader, words);
    const { ranked, isMinimum, hasAll } =
      words.length === 0
        ? await newest(reader, search, enough)
        : await rank(reader, search, found, enough);
    const chosen = ranked.slice(offset, offset + limit);
    const page = new Page(budget - FRAME);
    const shown = await fill(reader, page, chosen, found.known, limit * CHARS_PER_ENTITY, words);
    const hasRelations = (await reader.counts()).relations > 0;
    const related = hasRelations
      ? await reader.relationsOf(idsOf(shown), { limit: SHOWN_RELATIONS + 1 })
      : [];
    const fits = related.slice(0, SHOWN_RELATIONS).every((relation) => page.addRelation(relation));
    const next = offset + shown.length;
    const notes = wordNotes(found, page.entities);
    if (!fits || related.length > SHOWN_RELATIONS)
      notes.push("Not all relations of these entities are shown; open_nodes shows them.");
    return {
      entities: page.entities,
      relations: page.relations,
      total: ranked.length,
      total_is_minimum: isMinimum || undefined,
      // No entity has every word.
      matched: hasAll || ranked.length === 0 ? undefined : "some words",
      note: notes.join(" ") || undefined,
      next_cursor:
        next < ranked.length && shown.length > 0 ? cursors.encode({ offset: next }) : undefined,
    };
  });
}

/**
 * Looks up each word in the index; one with punctuation (`node.js`) as a phrase, or else by its parts. A word without matches
 * is replaced by words a few letters away.
 */
async function lookUpAll(reader: Reader, words: readonly string[]): Promise<Words> {
  const found: Words = { known: [], similar: [], unknown: [] };
  const lookUp = async (each: readonly string[]) => {
    const indexed = [];
    for (const word of each) indexed.push(await reader.lookUp(word));
    return indexed.filter((one) => one !== undefined);
  };
  for (const word of words) {
    const parts = wordsOf(word);
    let indexed = await lookUp([word]);
    if (parts.length > 1 && indexed[0]?.as !== "word") indexed = await lookUp(parts);
    if (indexed.length === 0) found.unknown.push(word);
    else if (indexed.every(({ as }) => as === "near")) found.similar.push(word);
    found.known.push(...indexed);
  }
  return found;
}

/** The note about words without matches. */
function wordNotes({ similar, unknown }: Words, shown: readonly ShownEntity[]): string[] {
  const texts = shown.map(({ name, entityType, observations = [] }) => [
    name,
    entityType,
    ...observations,
  ]);
  const present = new Set(wordsOf(fold(texts.flat().join(" "))));
  const notes = similar.map((word) => {
    const nothing = `Nothing matches ${quoteAll([word])}.`;
    const meant = nearest(word, present, 1);
    return meant.length === 0 ? nothing : `${nothing} Did you mean ${quoteAll(meant)}?`;
  });
  if (unknown.length > 0)
    notes.push(`Nothing matches ${quoteAll(unknown)}; try synonyms, or browse with read_graph.`);
  return notes;
}

/**
 * Fills a page with entities and their best observations, in the order of the entities; returns those shown. Entities that the
 * query names get half of the space, for their observations that match, then their newest. The others are chosen by their own
 * rank and their entity's until `characters` are used; entities with few, or without one that matches, also show others, the
 * newest first. The page ends after the last entity that got one.
 */
async function fill(
  reader: Reader,
  page: Page,
  ranked: readonly RankedEntity[],
  words: readonly WeightedWord[],
  characters: number,
  query: readonly string[],
): Promise<EntityRow[]> {
  const ids = ranked.map(({ entity }) => entity.id);
  const counts = await reader.observationCounts(ids);
  const stems = words.flatMap((word) => word.stems);
  const chosen = new Map<number, { fact: ObservationRow; text: string }[]>(
    ids.map((id) => [id, []]),
  );
  let left = characters;
  const seen = new Set<number>();
  const choose = (fact: ObservationRow) => {
    if (seen.has(fact.id)) return;
    const text = snippet(fact.content, stems);
    if (text.length > left && left < characters) return;
    left -= text.length;
    seen.add(fact.id);
    chosen.get(fact.entityId)?.push({ fact, text });
  };
  const named = namedIn(ranked, query);
  for (const { entity, facts: own } of named) {
    const rest = left - characters / 2 / named.length;
    for (const fact of own) if (left > rest) choose(fact);
    const others = left > rest ? await reader.observationsOf([entity.id]) : [];
    for (const fact of others.sort(newestFirst)) if (left > rest) choose(fact);
  }
  const facts = ranked.flatMap(({ nameScore, facts: own }) =>
    own.map((fact) => ({ fact, value: nameScore + fact.score })),
  );
  facts.sort((one, other) => other.value - one.value || newestFirst(one.fact, other.fact));
  for (const { fact } of facts) choose(fact);
  // At once: a query for each entity would be half of the cost of a search in a small memory.
  const short = new Map<number, ObservationRow[]>(
    ids.filter((id) => (counts.get(id) ?? 0) <= MAX_SHORT).map((id) => [id, []]),
  );
  if (left >= MIN_LEFT)
    for (const row of await reader.observationsOf([...short.keys()]))
      short.get(row.entityId)?.push(row);
  for (const { entity, facts: own } of ranked) {
    const count = counts.get(entity.id) ?? 0;
    if (left < MIN_LEFT || own.length === count || (own.length > 0 && count > MAX_SHORT)) continue;
    const known = new Set(idsOf(own));
    const all = short.get(entity.id) ?? (await reader.observationsOf([entity.id]));
    const others = all.filter(({ id }) => !known.has(id));
    for (const fact of others.sort(newestFirst)) choose(fact);
  }
  const shown: EntityRow[] = [];
  const isDone = ({ id }: EntityRow) => (chosen.get(id) ?? []).length > 0 || !counts.has(id);
  const last = ranked.findLastIndex(({ entity }) => isDone(entity));
  for (const { entity } of ranked.slice(0, last + 1)) {
    const own = chosen.get(entity.id) ?? [];
    const count = counts.get(entity.id) ?? 0;
    const item = {
      name: entity.name,
      entityType: entity.type,
      observations: own.map(({ text }) => text),
      ...learnedAs(own.map(({ fact }) => learnedOn(fact.createdAt, fact.source))),
      ...(own.length === 0 ? {} : { ids: own.map(({ fact }) => idOf(fact.id)) }),
      observation_count: own.length === count ? undefined : count,
      clipped: own.filter(({ fact, text }) => text !== fact.content).length || undefined,
    };
    if (!page.reserve(item)) break;
    page.entities.push(item);
    shown.push(entity);
  }
  return shown;
}

/** The entities with the most words of the query in their names. */
function namedIn(ranked: readonly RankedEntity[], query: readonly string[]): RankedEntity[] {
  const best = Math.max(...ranked.map(({ nameScore }) => nameScore));
  const named = ranked.filter(
    ({ entity, nameScore }) =>
      nameScore === best && wordsOf(fold(entity.name)).some((word) => query.includes(word)),
  );
  return named.length > MAX_NAMED ? [] : named;
}

interface Ranked {
  readonly ranked: readonly RankedEntity[];
  /** Whether there may be more that were not examined. */
  readonly isMinimum: boolean;
  /** Whether an entity has all words of the query. */
  readonly hasAll: boolean;
}

async function newest(reader: Reader, search: SearchQuery, limit: number): Promise<Ranked> {
  const rows = await reader.recentEntities(search, limit);
  const ranked = rows.map((entity) => ({ entity, score: 0, nameScore: 0, words: 0, facts: [] }));
  return { ranked, isMinimum: rows.length === limit, hasAll: true };
}

async function rank(
  reader: Reader,
  search: SearchQuery,
  { known, similar, unknown }: Words,
  limit: number,
): Promise<Ranked> {
  const { ranked, isMinimum } = await rankEntities(reader, known, search, limit);
  const all = known.length + unknown.length;
  const min = (ranked[0]?.score ?? 0) * MIN_SCORE;
  const good = ranked.filter(({ score, words }) => score >= min || words === all);
  const wanted = foldedName(search.query.trim());
  const isExact = ({ entity }: RankedEntity) => foldedName(entity.name) === wanted;
  return {
    ranked: [...good.filter(isExact), ...good.filter((one) => !isExact(one))],
    isMinimum,
    hasAll:
      unknown.length === 0 && similar.length === 0 && ranked.some(({ words }) => words === all),
  };
}
