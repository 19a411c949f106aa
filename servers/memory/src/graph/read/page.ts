import { clip, type StateCheck } from "@refmcp/boundary/answer";
import { batches } from "../store/connection.ts";
import type { Reader } from "../store/store.ts";
import type { EntityRow, ObservationRow, Relation, RelationRow } from "../types.ts";

/** An entity in an answer. */
export type ShownEntity = {
  readonly name: string;
  readonly entityType: string;
  readonly observations?: string[];
  /** The time and the source of each observation in this answer; one for all if they are the same. */
  readonly learned?: string[];
  /** The id of each observation, as `replaces` takes it. */
  readonly ids?: string[];
  /** Observations that were replaced. */
  readonly history?: Superseded[] | undefined;
  /** How many it has, if not all are shown here. */
  readonly observation_count?: number | undefined;
  /** How many observations are cut because they are too long. */
  readonly clipped?: number | undefined;
};

/** An observation that was replaced: what was known, from when until when, and by which. */
export type Superseded = Readonly<Record<"id" | "observation" | "learned" | "until", string>> & {
  readonly replaced_by?: string | undefined;
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
   * Adds an entity with its observations after the id `after`, as many as fit; with `withHistory` also superseded ones, and ids.
   *
   * @returns the id after which its observations continue on the next page; undefined if all are included.
   */
  async addEntity(
    reader: Reader,
    row: EntityRow,
    after: number,
    withHistory = false,
  ): Promise<number | undefined> {
    const observations: string[] = [];
    const learned: string[] = [];
    const ids: string[] = [];
    const history: Superseded[] = [];
    const times = new Set<string>();
    const head = { name: row.name, entityType: row.type, observations, observation_count: 100_000 };
    const first = this.isEmpty;
    if (!this.reserve(head)) return after;
    let last = after;
    let clipped = 0;
    let rest: number | undefined;
    for (let isMore = true; isMore; ) {
      const which = withHistory ? "kept" : "current";
      const batch = await reader.observationPage(row.id, last, OBSERVATION_BATCH, which);
      isMore = batch.length === OBSERVATION_BATCH;
      for (const fact of batch) {
        const shown = clipJson(fact.content);
        const from = learnedOn(fact.createdAt, fact.source);
        const old = supersededOf(fact, shown);
        // One entry is enough as long as all are the same.
        const isAlike = times.size === 1 && times.has(from);
        const entries = isAlike ? [] : times.size === 1 ? [...learned, from] : [{ learned: from }];
        const item = old ?? [shown, ...entries, withHistory ? idOf(fact.id) : ""];
        if (!this.reserve(item, first && observations.length + history.length === 0)) {
          rest = last;
          isMore = false;
          break;
        }
        if (shown !== fact.content) clipped += 1;
        last = fact.id;
        if (old !== undefined) {
          history.push(old);
          continue;
        }
        observations.push(shown);
        learned.push(from);
        ids.push(idOf(fact.id));
        times.add(from);
      }
    }
    if (last === after && rest !== undefined && !first) return rest;
    const count =
      rest === undefined && after === 0
        ? undefined
        : ((await reader.observationCounts([row.id])).get(row.id) ?? 0);
    this.entities.push({
      name: row.name,
      entityType: row.type,
      observations,
      ...learnedAs(learned),
      ...(withHistory && ids.length > 0 ? { ids } : {}),
      history: history.length === 0 ? undefined : history,
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

/** The id of an observation as `replaces` takes it: `#12`. */
export const idOf = (id: number) => `#${id}`;

/** A time to the minute: `2026-07-28T18:03Z`. */
const minuteOf = (time: number) => `${new Date(time).toISOString().slice(0, -8)}Z`;

/** When and from whom an observation was learned: `2026-07-28T18:03Z, Ada`. */
export function learnedOn(createdAt: number, source: string | null): string {
  const time = minuteOf(createdAt);
  return source === null ? time : `${time}, ${clip(source, MAX_SOURCE)}`;
}

/** A superseded observation in an answer; undefined for a current one. */
function supersededOf(row: ObservationRow, observation: string): Superseded | undefined {
  const { id, createdAt, source, supersededAt, supersededBy } = row;
  if (supersededAt === null) return undefined;
  return {
    id: idOf(id),
    observation,
    learned: learnedOn(createdAt, source),
    until: minuteOf(supersededAt),
    replaced_by: supersededBy === null ? undefined : idOf(supersededBy),
  };
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
export function naturals<Key extends string>(
  ...keys: readonly Key[]
): StateCheck<Record<Key, number>> {
  return {
    safeParse(value) {
      const found = new Map(Object.entries(Object(value)));
      const isNatural = (key: Key) =>
        Number.isSafeInteger(found.get(key)) && Number(found.get(key)) >= 0;
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
