import { clip, type StateCheck } from "@refmcp/boundary/answer";
import { batches } from "../store/connection.ts";
import type { Reader } from "../store/store.ts";
import type { EntityRow, Relation, RelationRow } from "../types.ts";

/** An entity in an answer. */
export type ShownEntity = {
  readonly name: string;
  readonly entityType: string;
  readonly observations?: string[];
  /** The day and the source of each observation in this answer; one for all if they are the same. */
  readonly learned?: string[];
  /** How many it has, if not all are shown here. */
  readonly observation_count?: number | undefined;
  /** How many observations are cut because they are too long. */
  readonly clipped?: number | undefined;
};

/** Maximum characters of JSON for one observation; the entity's resource and an export contain all of it. */
const MAX_SHOWN = 12_000;
const RELATION_BATCH = 200;
const OBSERVATION_BATCH = 100;

/** A response filled up to its budget. The first item is always included, so that every page makes progress. */
export class Page {
  readonly entities: ShownEntity[] = [];
  readonly relations: Relation[] = [];
  #left: number;

  /** @param budget characters of JSON. */
  constructor(budget: number) {
    this.#left = budget;
  }

  get isEmpty(): boolean {
    return this.entities.length === 0 && this.relations.length === 0;
  }

  /** Reserves space for a value; false if it does not fit, unless the page is empty. */
  reserve(value: unknown, force = this.isEmpty): boolean {
    const size = JSON.stringify(value).length + 1;
    if (size > this.#left && !force) return false;
    this.#left -= size;
    return true;
  }

  addRelation({ from, to, type }: RelationRow): boolean {
    const relation = { from, to, relationType: type };
    if (!this.reserve(relation)) return false;
    this.relations.push(relation);
    return true;
  }

  /**
   * Adds an entity with its observations after the id `after`, as many as fit.
   *
   * @returns the id after which its observations continue on the next page; undefined if all are included.
   */
  async addEntity(reader: Reader, row: EntityRow, after: number): Promise<number | undefined> {
    const observations: string[] = [];
    const learned: string[] = [];
    const days = new Set<string>();
    const head = { name: row.name, entityType: row.type, observations, observation_count: 100_000 };
    const first = this.isEmpty;
    if (!this.reserve(head)) return after;
    let last = after;
    let clipped = 0;
    let rest: number | undefined;
    for (let isMore = true; isMore; ) {
      const batch = await reader.observationPage(row.id, last, OBSERVATION_BATCH);
      isMore = batch.length === OBSERVATION_BATCH;
      for (const { id, content, createdAt, source } of batch) {
        const shown = clipJson(content);
        const from = learnedOn(createdAt, source);
        // One entry is enough as long as all are the same.
        const isAlike = days.size === 1 && days.has(from);
        const entries = isAlike ? [] : days.size === 1 ? [...learned, from] : [{ learned: from }];
        if (!this.reserve([shown, ...entries], first && observations.length === 0)) {
          rest = last;
          isMore = false;
          break;
        }
        if (shown !== content) clipped += 1;
        observations.push(shown);
        learned.push(from);
        days.add(from);
        last = id;
      }
    }
    if (observations.length === 0 && rest !== undefined && !first) return rest;
    const count =
      rest === undefined && after === 0
        ? undefined
        : ((await reader.observationCounts([row.id])).get(row.id) ?? 0);
    this.entities.push({
      name: row.name,
      entityType: row.type,
      observations,
      ...learnedAs(learned),
      observation_count: count,
      clipped: clipped || undefined,
    });
    return rest;
  }

  /** Adds relations after an id; returns the id after which they continue on the next page, if there are more. */
  async addRelations(
    page: (after: number, limit: number) => Promise<RelationRow[]>,
    start: number,
  ): Promise<number | undefined> {
    let after = start;
    for await (const rows of batches(page, RELATION_BATCH, start)) {
      for (const row of rows) {
        if (!this.addRelation(row)) return after;
        after = row.id;
      }
    }
    return undefined;
  }
}

const MAX_SOURCE = 80;

/** When and from whom an observation was learned: `2026-07-28, Ada`. */
export function learnedOn(createdAt: number, source: string | null): string {
  const day = new Date(createdAt).toISOString().slice(0, 10);
  return source === null ? day : `${day}, ${clip(source, MAX_SOURCE)}`;
}

/** The field of an answer for a list of `learnedOn`. */
export function learnedAs(learned: readonly string[]): { learned?: string[] } {
  if (learned.length === 0) return {};
  return { learned: new Set(learned).size === 1 ? learned.slice(0, 1) : [...learned] };
}

/** Cuts a text so that its JSON fits into the limit. */
function clipJson(text: string): string {
  if (text.length * 6 <= MAX_SHOWN) return text;
  let shown = text;
  while (JSON.stringify(shown).length > MAX_SHOWN)
    shown = `${clip(shown, Math.floor(shown.length * Math.min(0.9, MAX_SHOWN / JSON.stringify(shown).length)))}…`;
  return shown;
}

/**
 * A check of a cursor's content: an object with these keys, all of them whole numbers from 0. It does without zod, which the
 * database thread would load only for this.
 */
export function naturals<Key extends string>(...keys: readonly Key[]): StateCheck<Record<Key, number>> {
  return {
    safeParse(value) {
      const found = new Map(Object.entries(Object(value)));
      const isNatural = (key: Key) => Number.isSafeInteger(found.get(key)) && Number(found.get(key)) >= 0;
      if (!keys.every(isNatural)) return { success: false };
      // Each key was checked.
      return { success: true, data: Object.fromEntries(found) as Record<Key, number> };
    },
  };
}

/**
 * Truncates the lists of a response to stay within the budget, and reports how many items are not shown. The change
 * is already saved at this point, so its echo may be truncated but must never fail.
 *
 * @param budget characters of JSON.
 */
export function bounded<Answer extends object>(
  answer: Answer,
  budget: number,
): Answer & { not_shown?: number } {
  let left = budget - 500;
  let cut = 0;
  const fits = (item: unknown) => {
    left -= JSON.stringify(item).length + 1;
    if (left < 0) cut += 1;
    return left >= 0;
  };
  const shown = structuredClone(answer);
  for (const value of Object.values(shown))
    if (Array.isArray(value)) value.splice(0, value.length, ...value.filter(fits));
  return cut === 0 ? shown : { ...shown, not_shown: cut };
}
