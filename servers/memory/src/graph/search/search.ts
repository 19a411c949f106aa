import { cursorsOf, fitCount, ToolError } from "@refmcp/boundary/answer";
import { quoteAll } from "../read/names.ts";
import { natural, type ShownEntity, shownEntity, shownRelation } from "../read/page.ts";
import type { Reader, Store } from "../store/store.ts";
import type { EntityRow, ObservationRow, Within } from "../types.ts";
import { newestFirst, type RankedEntity, type Ranking, rank } from "./rank.ts";
import { MAX_SNIPPET, snippet } from "./snippet.ts";
import { type IndexedWord, lookUp, missingWords, queryWords } from "./words.ts";

const MAX_WORDS = 32;
/** The characters of JSON of an answer for each entity that it may show: 2,100 by default. */
const CHARS_PER_ENTITY = 105;
/** The most entities of an empty query. */
const MAX_NEWEST = 1_000;
/** How many of an entity's newest facts are looked at. */
const MAX_FACTS = 100;
/** The share of an answer that relations always may have, and how many are looked at. */
const [RELATIONS_SHARE, MAX_RELATIONS] = [0.15, 50];
/** The JSON around the lists of an answer, and how many facts are tried at most once one alone does not fit. */
const [FRAME, MAX_TRIED] = [200, 8];
/** The first facts of an answer are the best ones, even if those of an entity are then in two places. */
const FIRST = 5;

export interface SearchQuery extends Within {
  readonly query: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
}

/** A fact for an answer, with its score; an entity without facts has one without `row`. */
interface Item {
  readonly entity: EntityRow;
  readonly row?: ObservationRow;
  readonly score: number;
  /** Whether it matches the query, and not only its entity. */
  readonly isMatch: boolean;
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
  const cursors = cursorsOf("search_nodes", [query, types, since, until], natural);
  const offset = cursors.decode(search.cursor) ?? 0;
  return store.read(async (reader) => {
    const indexed = await lookUp(reader, words);
    const ranking =
      words.length === 0
        ? await newest(reader, search)
        : await rank(reader, indexed, words, search);
    const candidates = ranking.entities.slice(offset, offset + limit);
    const ids = candidates.map(({ entity }) => entity.id);
    const counts = await reader.observationCounts(ids);
    const relationRows = await reader.relationsOf(ids, { limit: MAX_RELATIONS });
    const items = await itemsOf(reader, candidates);
    const characters = Math.min(budget, limit * CHARS_PER_ENTITY);
    const note = noteOf(words, indexed, ranking.entities.length === 0);
    // Each answer has the first candidate, so that the next page begins after it.
    const first = items.filter(({ entity }) => entity.id === ids[0]).slice(0, 1);
    const answer = (best: readonly Item[]) => {
      const chosen = [...new Set([...best, ...first])];
      const entityIds = new Set(chosen.map(({ entity }) => entity.id));
      const { entities, learned } = withCommonDay(grouped(chosen, counts, indexed));
      const relations = relationRows
        .filter(({ fromId, toId }) => entityIds.has(fromId) || entityIds.has(toId))
        .map(shownRelation);
      const remaining = characters - FRAME - JSON.stringify(entities).length;
      const fits = fitCount(relations, Math.max(remaining, RELATIONS_SHARE * characters));
      // What is shown is a beginning of the candidates; if not, the rest is repeated rather than left out.
      const unseen = candidates.findIndex(({ entity }) => !entityIds.has(entity.id));
      const next = offset + (unseen === -1 ? candidates.length : unseen);
      const isMore = next < ranking.entities.length;
      return {
        entities,
        relations: relations.slice(0, fits),
        learned,
        total: isMore || ranking.isMinimum ? ranking.entities.length : undefined,
        total_is_minimum: ranking.isMinimum || undefined,
        note,
        next_cursor: isMore ? cursors.encode(next) : undefined,
      };
    };
    // The best facts that fit: steps that double until one is too large, and halve from then on.
    let [chosen, rest, step, growth]: [Item[], Item[], number, number] = [[], items, 16, 2];
    while (rest.length > 0) {
      const next = [...chosen, ...rest.slice(0, step)];
      const space = characters - JSON.stringify(answer(next)).length;
      const isShort = ({ row }: Item) => Math.min(row?.content.length ?? 0, MAX_SNIPPET) <= space;
      if (space >= 0) [chosen, rest] = [next, rest.slice(step).filter(isShort)];
      else [rest, growth] = [step === 1 ? rest.slice(1, MAX_TRIED) : rest, 0.5];
      step = Math.max(1, step * growth);
    }
    return answer(chosen);
  });
}

/** The entities that changed last. */
async function newest(reader: Reader, within: Within): Promise<Ranking> {
  const rows = await reader.recentEntities(within, MAX_NEWEST);
  const entities = rows.map((entity, at) => ({
    entity,
    isNamed: false,
    score: rows.length - at,
    facts: [],
  }));
  return { entities, isMinimum: rows.length === MAX_NEWEST };
}

/**
 * The facts of entities, best first: those that match, or the newest of an entity where none does; each further one counts
 * less. Every second fact is about an entity that the query names if none of its facts matches.
 */
async function itemsOf(reader: Reader, entities: readonly RankedEntity[]): Promise<Item[]> {
  const items: Item[] = [];
  const newest: Item[] = [];
  for (const { entity, isNamed, score, facts } of entities) {
    const own: Item[] = facts.map((fact) => ({ entity, isMatch: true, ...fact }));
    if (own.length === 0)
      for (const [at, row] of (await reader.newestOf(entity.id, MAX_FACTS)).entries())
        own.push({ entity, row, isMatch: false, score: score / (at + 1) });
    if (own.length === 0) own.push({ entity, isMatch: false, score });
    (isNamed && facts.length === 0 ? newest : items).push(...own);
  }
  const bestFirst = (a: Item, b: Item) =>
    b.score - a.score || (a.row && b.row ? newestFirst(a.row, b.row) : 0);
  newest.sort(bestFirst);
  const pairs = items.sort(bestFirst).map((item, at) => [newest[at] ?? [], item].flat());
  return [...pairs.flat(), ...newest.slice(items.length)];
}

/** Entities with their facts, in the order of their best ones. */
function grouped(
  items: readonly Item[],
  counts: ReadonlyMap<number, number>,
  words: readonly IndexedWord[],
): ShownEntity[] {
  const open = [...new Set(items.slice(0, FIRST).map(({ entity }) => entity.id))].at(-1);
  const groups = new Map<number, [Item, ...Item[]]>();
  for (const [at, item] of items.entries()) {
    const { id } = item.entity;
    const isLater = at >= FIRST && item.isMatch && id !== open;
    const group = groups.get(isLater ? -id : id);
    if (group === undefined) groups.set(isLater ? -id : id, [item]);
    else group.push(item);
  }
  return [...groups].map(([key, group]) => {
    const [{ entity }] = group;
    const facts = group.flatMap(({ row }) =>
      row === undefined ? [] : [{ ...row, part: snippet(row.content, words) }],
    );
    const factCount = items.filter((item) => item.row && item.entity.id === entity.id).length;
    const more = (counts.get(entity.id) ?? 0) - factCount;
    const isLast = !groups.has(-key) || key < 0;
    return { ...shownEntity(entity, facts), more: isLast && more > 0 ? more : undefined };
  });
}

/** Entities without the day on which the facts of most were learned, which is then that of all without their own. */
function withCommonDay(entities: ShownEntity[]) {
  const days = entities.flatMap(({ learned = [] }) => (learned.length === 1 ? learned : []));
  const counts = new Map<string, number>();
  for (const day of days) counts.set(day, (counts.get(day) ?? 0) + 1);
  const [day, count = 0] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  if (count < 2) return { entities };
  const bare = entities.map((entity) =>
    entity.learned?.length === 1 && entity.learned[0] === day
      ? { ...entity, learned: undefined }
      : entity,
  );
  return { entities: bare, learned: day };
}

/**
 * A note on words that no text has: which ones were searched for instead, or, if nothing matches, what else to try. Most
 * questions have such a word, so it is not worth a part of an answer that has facts.
 */
function noteOf(words: readonly string[], indexed: readonly IndexedWord[], isEmpty: boolean) {
  const missing = missingWords(words, indexed);
  if (missing.length === 0) return undefined;
  const similar = indexed.flatMap(({ isSimilar, terms }) => (isSimilar ? terms : []));
  const like = similar.map(({ text }) => text);
  if (like.length === 0 && !isEmpty) return undefined;
  const meant = like.length === 0 ? "" : ` Similar: ${quoteAll([...new Set(like)])}.`;
  const advice = " Try synonyms; for the newest, leave query empty or give since.";
  return `Nothing matches ${quoteAll(missing)}.${meant}${isEmpty ? advice : ""}`;
}
