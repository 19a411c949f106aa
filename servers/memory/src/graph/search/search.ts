import { cursorsOf, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { quoteAll } from "../read/names.ts";
import { natural, Page, type ShownEntity, type ShownFact, shownEntity } from "../read/page.ts";
import type { Reader, Store } from "../store/store.ts";
import { wordsOf } from "../text.ts";
import { type EntityRow, idsOf, type ObservationRow, type Within } from "../types.ts";
import { newestFirst, type RankedEntity, type Ranking, rank } from "./rank.ts";
import { snippet } from "./snippet.ts";
import { type IndexedWord, lookUp, queryWords } from "./words.ts";

const MAX_WORDS = 32;
/** The characters of JSON of an answer for each entity that it may show: 2,000 by default. */
const CHARS_PER_ENTITY = 100;
/** The most entities of an empty query. */
const MAX_NEWEST = 1_000;
/** How many of an entity's newest facts are looked at. */
const MAX_FACTS = 100;
/** The share of an answer that relations may have, and how many are looked at. */
const [RELATIONS_SHARE, MAX_RELATIONS] = [0.15, 50];
/** The JSON around the lists of an answer, around an entity, and of a fact's new time. */
const [FRAME, ENTITY_FRAME, TIME_FRAME] = [300, 100, 13];
/** With fewer characters left, no further facts are looked for. */
const MIN_FACT = 20;

export interface SearchQuery extends Within {
  readonly query: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
}

/**
 * The entities that match a query best, with their best facts: see `rank`. A word without matches is replaced by words
 * that contain it, or by words a few letters away. An empty query, or one that asks what is new, returns the newest.
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
      { hint: "Use only the most important words." },
    );
  const check = z.object({ offset: natural });
  const cursors = cursorsOf("search_nodes", [query, types, since, until], check);
  const offset = cursors.decode(search.cursor)?.offset ?? 0;
  return store.read(async (reader) => {
    const indexed = await lookUp(reader, words);
    const exact = new Set(indexed.flatMap(({ word, isSimilar }) => (isSimilar ? [] : word)));
    const missing = words.filter(
      (word) => ![word, ...wordsOf(word)].some((part) => exact.has(part)),
    );
    const ranking =
      words.length === 0
        ? await newest(reader, search)
        : await rank(reader, indexed, words, search);
    const chosen = ranking.entities.slice(offset, offset + limit);
    const characters = Math.min(budget - FRAME, limit * CHARS_PER_ENTITY);
    const ids = chosen.map(({ entity }) => entity.id);
    const hasRelations = (await reader.relationsOf(ids, { limit: 1 })).length > 0;
    const share = hasRelations ? 1 - RELATIONS_SHARE : 1;
    const selection = new Selection(share * characters, indexed);
    await select(reader, chosen, selection);
    const page = new Page(characters);
    const { shown, seen } = await show(reader, page, chosen, selection);
    await page.addRelations(
      (after) => reader.relationsOf(idsOf(shown), { after, limit: MAX_RELATIONS }),
      0,
    );
    const next = offset + seen;
    const isMore = next < ranking.entities.length && seen > 0;
    const learned = commonDay(page.entities);
    return {
      entities: page.entities.map((entity) =>
        isLearnedOn(entity, learned) ? { ...entity, learned: undefined } : entity,
      ),
      relations: page.relations,
      // For all entities without their own.
      learned,
      total: ranking.entities.length,
      total_is_minimum: ranking.isMinimum || undefined,
      // No entity has every word.
      matched:
        (ranking.hasAll && missing.length === 0) || chosen.length === 0 ? undefined : "some words",
      note: noteOf(missing, indexed),
      next_cursor: isMore ? cursors.encode({ offset: next }) : undefined,
    };
  });
}

/** Whether all shown facts of an entity were learned on a day. */
function isLearnedOn({ learned }: ShownEntity, day: string | undefined): boolean {
  return learned?.length === 1 && learned[0] === day;
}

/** The day on which the facts of most entities were learned; undefined if it is that of only one. */
function commonDay(entities: readonly ShownEntity[]): string | undefined {
  const days = entities.flatMap(({ learned = [] }) => (learned.length === 1 ? learned : []));
  const counts = new Map<string, number>();
  for (const day of days) counts.set(day, (counts.get(day) ?? 0) + 1);
  const [day, count = 0] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  return count > 1 ? day : undefined;
}

/** The entities that changed last. */
async function newest(reader: Reader, within: Within): Promise<Ranking> {
  const rows = await reader.recentEntities(within, MAX_NEWEST);
  const entities = rows.map((entity) => ({ entity, isNamed: false, score: 0, facts: [] }));
  return { entities, isMinimum: rows.length === MAX_NEWEST, hasAll: true };
}

/** A sentence about words that no text has, and what was found instead. */
function noteOf(missing: readonly string[], indexed: readonly IndexedWord[]): string | undefined {
  if (missing.length === 0) return undefined;
  const similar = indexed.flatMap(({ isSimilar, terms }) => (isSimilar ? terms : []));
  const like = similar.map(({ text }) => text);
  const meant = like.length === 0 ? "" : ` Similar: ${quoteAll([...new Set(like)])}.`;
  return `Nothing matches ${quoteAll(missing)}.${meant} Try synonyms; for the newest, leave query empty or give since.`;
}

const DAY_MS = 86_400_000;
const dayOf = (row: ObservationRow | undefined) => row && Math.floor(row.createdAt / DAY_MS);

/** The facts that an answer has, within its characters. */
class Selection {
  readonly facts = new Map<number, ShownFact[]>();
  left: number;
  readonly #seen = new Set<number>();
  readonly #words: readonly IndexedWord[];

  constructor(characters: number, words: readonly IndexedWord[]) {
    this.left = characters;
    this.#words = words;
  }

  /** Adds a fact of an entity, or the part of a long one that matches, if `rest` characters are left then. */
  add({ id, name, type }: EntityRow, row: ObservationRow, rest = 0): void {
    if (this.#seen.has(row.id) || this.left < rest + MIN_FACT) return;
    const part = snippet(row.content, this.#words);
    const own = this.facts.get(id) ?? [];
    const head = own.length > 0 ? 0 : name.length + type.length + ENTITY_FRAME;
    const time = dayOf(own.at(-1)) === dayOf(row) ? 0 : TIME_FRAME;
    const size = head + JSON.stringify(part).length + 1 + time;
    // The first fact is always included, so that every page makes progress.
    if (this.left - size < rest && this.#seen.size > 0) return;
    this.left -= size;
    this.#seen.add(row.id);
    this.facts.set(id, [...own, { ...row, part }]);
  }
}

/**
 * Chooses the facts of an answer. Entities that the query names get half of it, for their facts that match, then their
 * newest. The rest is for the best facts of all, and for the newest of entities that match by name or type alone.
 */
async function select(
  reader: Reader,
  ranked: readonly RankedEntity[],
  selection: Selection,
): Promise<void> {
  const addNewest = async (entity: EntityRow, rest: number) => {
    if (selection.left < rest + MIN_FACT) return;
    for (const row of await reader.newestOf(entity.id, MAX_FACTS)) selection.add(entity, row, rest);
  };
  const named = ranked.filter(({ isNamed }) => isNamed);
  const half = selection.left / 2;
  for (const { entity, facts } of named) {
    const rest = selection.left - half / named.length;
    for (const { row } of facts) selection.add(entity, row, rest);
    await addNewest(entity, rest);
  }
  const facts = ranked.flatMap(({ entity, facts: own }) =>
    own.map((fact) => ({ entity, ...fact })),
  );
  facts.sort((one, other) => other.score - one.score || newestFirst(one.row, other.row));
  for (const { entity, row } of facts) selection.add(entity, row);
  // One fact for as many of the others as possible, then more for all of them.
  const bare: EntityRow[] = [];
  for (const { entity, facts: own } of ranked) {
    if (own.length > 0 || selection.facts.has(entity.id)) continue;
    const [row] = await reader.newestOf(entity.id, 1);
    if (row !== undefined) selection.add(entity, row);
    if (row !== undefined && !selection.facts.has(entity.id)) break;
    bare.push(entity);
  }
  for (const [index, entity] of bare.entries())
    await addNewest(entity, selection.left - selection.left / (bare.length - index));
}

/** Adds the entities with chosen facts, or without any, to a page. @returns those shown, and how many were looked at */
async function show(
  reader: Reader,
  page: Page,
  ranked: readonly RankedEntity[],
  { facts }: Selection,
): Promise<{ shown: EntityRow[]; seen: number }> {
  const counts = await reader.observationCounts(ranked.map(({ entity }) => entity.id));
  const shown: EntityRow[] = [];
  let seen = 0;
  for (const [index, { entity }] of ranked.entries()) {
    const own = facts.get(entity.id) ?? [];
    const count = counts.get(entity.id) ?? 0;
    if (own.length === 0 && count > 0) continue;
    const item = {
      ...shownEntity(entity, own),
      more: count === own.length ? undefined : count - own.length,
    };
    if (!page.reserve(item)) break;
    page.entities.push(item);
    shown.push(entity);
    seen = index + 1;
  }
  return { shown, seen };
}
