import { cursorsOf, nearest, ToolError } from "@refmcp/boundary/answer";
import { quoteAll } from "../read/names.ts";
import { learnedAs, learnedOn, naturals, Page, type ShownEntity } from "../read/page.ts";
import type { Reader, Store } from "../store/store.ts";
import { fold, foldedName, queryWords, snippet, stemOf, synonymsOf, wordsOf } from "../text.ts";
import { type EntityRow, type IndexedWord, idsOf, type Within } from "../types.ts";
import { bestFacts } from "./best-facts.ts";
import { embedMissing, nearestEntities } from "./vectors.ts";

const MAX_WORDS = 32;
/** How many entities are ranked for an answer and its next pages; with more matches, the total is a minimum. */
const MAX_RANKED = 1_000;
/** An entity that lacks some of the words needs at least this share of the best score: below, it only matches a common word. */
const MIN_SCORE = 0.3;
/** Weight of a synonym. */
const SYNONYM_WEIGHT = 0.7;
const SHOWN_OBSERVATIONS = 10;
/** How many entities show that many of their observations; later ones, which match less, show fewer. */
const FIRST = 2;
const SHOWN_LATER = 3;
const SHOWN_RELATIONS = 50;
const FRAME = 900;

export interface SearchQuery extends Within {
  readonly query: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
}

/** The words of a query: those that the index has, those replaced by others, and those without matches. */
type Words = { known: IndexedWord[]; replaced: Map<string, readonly IndexedWord[]>; unknown: string[] };

/**
 * The entities that match a query best, by BM25 over their names, types and observations; an exact name comes first. Words are
 * compared by their stems, ignoring case and accents, and match longer words that start with them. A word without matches is
 * replaced by words that contain it, or by words a few letters away. An empty query returns the newest.
 *
 * @throws ToolError `invalid` for more than 32 words or a cursor of another query.
 */
export async function searchNodes(store: Store, search: SearchQuery) {
  const { query, types, since, until, limit, budget } = search;
  const words = queryWords(query);
  if (words.length > MAX_WORDS)
    throw new ToolError("invalid", `The query has ${words.length} words; at most ${MAX_WORDS} are allowed.`, {
      hint: "Use only the most important words.",
    });
  const cursors = cursorsOf("search_nodes", [query, types, since, until], naturals("offset"));
  const offset = cursors.decode(search.cursor)?.offset ?? 0;
  const model =
    store.model !== undefined && (await embedMissing(store, store.model)) ? store.model : undefined;
  return store.read(async (reader) => {
    const enough = Math.max(MAX_RANKED, offset + limit) + 1;
    const found = await lookUpAll(reader, words);
    const isEmpty = words.length === 0;
    const ranked = isEmpty ? await newest(reader, search, enough) : await rank(reader, search, found, enough);
    const ids =
      model === undefined || isEmpty
        ? ranked.ids
        : await combined(reader, search, ranked, await nearestEntities(reader, model, query));
    const chosen = ids.slice(offset, offset + limit);
    const rows = await reader.entitiesById(chosen);
    const stems = found.known.map(({ word, as }) => (as === "near" ? word.slice(0, 3) : stemOf(word)));
    const page = new Page(budget - FRAME);
    const shown: EntityRow[] = [];
    for (const id of chosen) {
      const row = rows.get(id);
      if (row === undefined) continue;
      const max = offset + shown.length < FIRST ? SHOWN_OBSERVATIONS : SHOWN_LATER;
      const entity = await excerpt(reader, row, stems, max);
      if (!page.reserve(entity)) break;
      page.entities.push(entity);
      shown.push(row);
    }
    const related = await reader.relationsOf(idsOf(shown), { limit: SHOWN_RELATIONS + 1 });
    const fits = related.slice(0, SHOWN_RELATIONS).every((relation) => page.addRelation(relation));
    const next = offset + shown.length;
    const notes = wordNotes(found, page.entities);
    if (!fits || related.length > SHOWN_RELATIONS)
      notes.push("Not all relations of these entities are shown; open_nodes shows them.");
    return {
      entities: page.entities,
      relations: page.relations,
      total: ids.length,
      total_is_minimum: ranked.isMinimum || undefined,
      // No entity has every word.
      matched: ranked.hasAll || ids.length === 0 ? undefined : "some words",
      note: notes.join(" ") || undefined,
      next_cursor: next < ids.length && shown.length > 0 ? cursors.encode({ offset: next }) : undefined,
    };
  });
}

/**
 * Looks up each word in the index; one with punctuation (`node.js`) as a phrase, or else by its parts. A word without matches
 * is replaced by its synonyms, or by words a few letters away.
 */
async function lookUpAll(reader: Reader, words: readonly string[]): Promise<Words> {
  const found: Words = { known: [], replaced: new Map(), unknown: [] };
  const lookUp = async (each: readonly string[]) => {
    const indexed = [];
    for (const word of each) indexed.push(await reader.lookUp(word));
    return indexed.filter((one) => one !== undefined);
  };
  for (const word of words) {
    const parts = wordsOf(word);
    let indexed = await lookUp([word]);
    if (parts.length > 1 && indexed[0]?.as !== "word") indexed = await lookUp(parts);
    if (indexed.every(({ as }) => as === "near")) {
      const synonyms = (await lookUp(synonymsOf(word))).filter(({ as }) => as === "word");
      if (synonyms.length > 0)
        indexed = synonyms.map((one) => ({ ...one, weight: one.weight * SYNONYM_WEIGHT }));
      if (indexed.length > 0) found.replaced.set(word, indexed);
    }
    if (indexed.length === 0) found.unknown.push(word);
    found.known.push(...indexed);
  }
  return found;
}

/** The note about words without matches. */
function wordNotes({ replaced, unknown }: Words, shown: readonly ShownEntity[]): string[] {
  const texts = shown.map(({ name, entityType, observations = [] }) => [name, entityType, ...observations]);
  const present = new Set(wordsOf(fold(texts.flat().join(" "))));
  const notes = [...replaced].map(([word, instead]) => {
    const nothing = `Nothing matches ${quoteAll([word])}.`;
    if (instead.some(({ as }) => as !== "near"))
      return `${nothing} Showing matches for ${quoteAll(instead.map((one) => one.word))}.`;
    const meant = nearest(word, present, 1);
    return meant.length === 0 ? nothing : `${nothing} Did you mean ${quoteAll(meant)}?`;
  });
  if (unknown.length > 0)
    notes.push(`Nothing matches ${quoteAll(unknown)}; try synonyms, or browse with read_graph.`);
  return notes;
}

/** An entity with its observations, or with the `max` best ones if it has more than 10. */
async function excerpt(reader: Reader, row: EntityRow, stems: readonly string[], max: number) {
  const observations = await reader.observationsOf([row.id]);
  const isShort = observations.length <= SHOWN_OBSERVATIONS;
  const chosen = isShort ? observations : bestFacts(observations, row.name, stems).slice(0, max);
  const texts = chosen.map(({ content }) => snippet(content, stems));
  const clipped = texts.filter((text, index) => text !== chosen[index]?.content).length;
  return {
    name: row.name,
    entityType: row.type,
    observations: texts,
    ...learnedAs(chosen.map(({ createdAt, source }) => learnedOn(createdAt, source))),
    observation_count: texts.length === observations.length ? undefined : observations.length,
    clipped: clipped || undefined,
  };
}

interface Ranked {
  readonly ids: number[];
  /** Scores by the words, if there are any. */
  readonly scores: ReadonlyMap<number, number>;
  /** Whether there may be more that were not examined. */
  readonly isMinimum: boolean;
  /** Whether an entity has all words of the query. */
  readonly hasAll: boolean;
}

async function newest(reader: Reader, search: SearchQuery, limit: number): Promise<Ranked> {
  const rows = await reader.recentEntities(search, limit);
  return { ids: idsOf(rows), scores: new Map(), isMinimum: rows.length === limit, hasAll: true };
}

async function rank(
  reader: Reader,
  search: SearchQuery,
  { known, replaced, unknown }: Words,
  limit: number,
): Promise<Ranked> {
  const rare = known.filter(({ isCommon }) => !isCommon);
  const ranking = rare.length === 0 ? known : rare;
  const matches = await reader.rank(ranking, search, limit);
  const all = ranking.length + unknown.length;
  const min = (matches[0]?.score ?? 0) * MIN_SCORE;
  const good = matches.filter(({ score, words }) => score >= min || words === all);
  const wanted = foldedName(search.query.trim());
  const named = (await reader.namesFrom(wanted, 20)).filter(({ name }) => foldedName(name) === wanted);
  const exact = idsOf(named).filter((id) => good.some((match) => match.id === id));
  return {
    ids: [...new Set([...exact, ...idsOf(good)])],
    scores: new Map(good.map(({ id, score }) => [id, score])),
    isMinimum: good.length === limit,
    hasAll: unknown.length === 0 && replaced.size === 0 && matches.some(({ words }) => words === all),
  };
}

/** Score for each standard deviation by which an entity's meaning is nearer than most; the best match by words has 1. */
const MEANING_WEIGHT = 0.1;

/**
 * Combines two rankings by adding their scores, those by words relative to the best one. Unlike ranks alone, normalized scores
 * keep a clear match by words first (Bruch and others, 2023).
 */
async function combined(
  reader: Reader,
  { since = 0, until = Number.POSITIVE_INFINITY, types }: SearchQuery,
  byWords: Ranked,
  byMeaning: ReadonlyMap<number, number>,
): Promise<number[]> {
  const best = Math.max(...byWords.scores.values());
  const scores = new Map(byWords.ids.map((id) => [id, (byWords.scores.get(id) ?? 0) / best]));
  for (const { id, type, updatedAt } of (await reader.entitiesById([...byMeaning.keys()])).values())
    if (updatedAt >= since && updatedAt <= until && types?.includes(type) !== false)
      scores.set(id, (scores.get(id) ?? 0) + MEANING_WEIGHT * (byMeaning.get(id) ?? 0));
  return [...scores].sort(([, x], [, y]) => y - x).map(([id]) => id);
}
