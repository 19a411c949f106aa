import { clip } from "@refmcp/boundary/answer";
import * as z from "zod";
import { batches } from "../store/connection.ts";
import type { Reader } from "../store/store.ts";
import type { EntityRow, ObservationRow, Relation, RelationRow } from "../types.ts";
import { idOf } from "./names.ts";

/** An entity in an answer. */
export type ShownEntity = {
  readonly name: string;
  readonly entityType: string;
  readonly observations?: string[] | undefined;
  /** When each observation was learned: see `learnedOf`. */
  readonly learned?: string[] | undefined;
  /** The id of each observation, as `replaces` takes it. */
  readonly ids?: string[] | undefined;
  /** Observations that were replaced. */
  readonly history?: Replaced[] | undefined;
  /** How many it has, if not all are shown here. */
  readonly observation_count?: number | undefined;
  /** How many further ones it has, in a search. */
  readonly more?: number | undefined;
  /** How many observations are cut because they are too long. */
  readonly clipped?: number | undefined;
};

/** An observation that was replaced: what was known, from when until when, and by which. */
type Replaced = Readonly<Record<"id" | "observation" | "learned" | "until", string>> & {
  readonly replaced_by?: string | undefined;
};

/** Whether an answer also has the sources of observations, or in addition those that were replaced, with ids. */
type Detail = "texts" | "sources" | "history";

/** Maximum characters of JSON for one observation; an export contains all of it. */
const MAX_SHOWN = 12_000;
const MAX_SOURCE = 80;
const RELATION_BATCH = 200;
const OBSERVATION_BATCH = 100;
/** The JSON around an entity: keys, counts, and how many have the same time. */
const ENTITY_FRAME = " ".repeat(100);

/** A number in a cursor. */
export const natural = z.int().min(0);

/** A response filled up to its budget. The first item is always included, so that every page makes progress. */
export class Page {
  readonly entities: ShownEntity[] = [];
  readonly relations: Relation[] = [];
  left: number;

  /** @param budget characters of JSON. */
  constructor(budget: number) {
    this.left = budget;
  }

  get isEmpty(): boolean {
    return this.entities.length === 0 && this.relations.length === 0;
  }

  /** Reserves space for a value; false if it does not fit, unless the page is empty. */
  reserve(value: unknown, force = this.isEmpty): boolean {
    const size = JSON.stringify(value).length + 1;
    if (size > this.left && !force) return false;
    this.left -= size;
    return true;
  }

  /** Adds an entity unchanged; false if it does not fit. */
  add(entity: ShownEntity): boolean {
    const fits = this.reserve(entity);
    if (fits) this.entities.push(entity);
    return fits;
  }

  /**
   * Adds an entity with its observations after the id `after`, as many as fit.
   *
   * @returns the id after which its observations continue on the next page; undefined if all are included.
   */
  async addEntity(
    reader: Reader,
    row: EntityRow,
    after: number,
    detail: Detail,
  ): Promise<number | undefined> {
    const isFirst = this.isEmpty;
    if (!this.reserve([row.name, row.type, ENTITY_FRAME])) return after;
    const which = detail === "history" ? "kept" : "current";
    const rows = batches(
      (last, limit) => reader.observationPage(row.id, last, limit, which),
      OBSERVATION_BATCH,
      after,
    );
    const facts: ObservationRow[] = [];
    let rest: number | undefined;
    let time = "";
    filling: for await (const batch of rows)
      for (const fact of batch) {
        const learned = timeOf(fact, "minute", true);
        const item = [clipJson(fact.content)];
        if (detail === "history") item.push(idOf(fact.id));
        if (learned !== time) item.push(learned);
        const size = fact.supersededAt === null ? item : replacedFact(fact);
        if (!this.reserve(size, isFirst && facts.length === 0)) {
          rest = facts.at(-1)?.id ?? after;
          break filling;
        }
        time = learned;
        facts.push(fact);
      }
    if (facts.length === 0 && rest !== undefined) return rest;
    const isWhole = rest === undefined && after === 0;
    const counts = isWhole ? undefined : await reader.observationCounts([row.id]);
    this.entities.push(shownEntity(row, facts, detail, counts && (counts.get(row.id) ?? 0)));
    return rest;
  }

  /** Adds relations after an id; returns the id after which they continue on the next page, if there are more. */
  async addRelations(
    page: (after: number, limit: number) => Promise<RelationRow[]>,
    start: number,
  ): Promise<number | undefined> {
    let after = start;
    for await (const rows of batches(page, RELATION_BATCH, start))
      for (const row of rows) {
        const relation = shownRelation(row);
        if (!this.reserve(relation)) return after;
        this.relations.push(relation);
        after = row.id;
      }
    return undefined;
  }
}

export function shownRelation({ from, to, type }: RelationRow): Relation {
  return { from, to, relationType: type };
}

/** An observation that may be shown only in part. */
type ShownFact = ObservationRow & { readonly part?: string };

/** An entity in an answer with some of its observations; `count` is how many it has if there are more. */
export function shownEntity(
  { name, type }: EntityRow,
  facts: readonly ShownFact[],
  detail: Detail = "texts",
  count?: number,
): ShownEntity {
  const current = facts.filter(({ supersededAt }) => supersededAt === null);
  const history = facts.filter(({ supersededAt }) => supersededAt !== null).map(replacedFact);
  const observations = current.map(({ content, part }) => part ?? clipJson(content));
  const clipped = observations.filter((text, at) => text !== current[at]?.content).length;
  return {
    name,
    entityType: type,
    observations,
    learned: current.length === 0 ? undefined : learnedOf(current, detail !== "texts"),
    ids: detail === "history" && current.length > 0 ? current.map(({ id }) => idOf(id)) : undefined,
    history: history.length === 0 ? undefined : history,
    observation_count: count,
    clipped: clipped === 0 ? undefined : clipped,
  };
}

/**
 * When and, with `sources`, from whom observations were learned: one entry for each run of equal ones (`3x 2026-07-28`),
 * and a single one if all are equal. Days, unless several times of a day have to be distinguished.
 */
function learnedOf(facts: readonly ObservationRow[], sources: boolean): string[] {
  const times = (unit: "day" | "minute") => new Set(facts.map((fact) => timeOf(fact, unit)));
  const unit = times("minute").size > times("day").size ? "minute" : "day";
  const runs: { time: string; count: number }[] = [];
  for (const fact of facts) {
    const time = timeOf(fact, unit, sources);
    const last = runs.at(-1);
    if (last?.time === time) last.count += 1;
    else runs.push({ time, count: 1 });
  }
  const isCounted = runs.length > 1;
  return runs.map(({ time, count }) => (isCounted && count > 1 ? `${count}x ${time}` : time));
}

/** `2026-07-28` or `2026-07-28T18:03Z`, with the source: `2026-07-28, Ada`. */
function timeOf(
  { createdAt, source }: Pick<ObservationRow, "createdAt" | "source">,
  unit: "day" | "minute",
  withSource = false,
): string {
  const iso = new Date(createdAt).toISOString();
  const time = unit === "day" ? iso.slice(0, -14) : `${iso.slice(0, -8)}Z`;
  return withSource && source !== null ? `${time}, ${clip(source, MAX_SOURCE)}` : time;
}

/** A superseded observation in an answer. */
function replacedFact(row: ObservationRow): Replaced {
  const { id, content, supersededAt, supersededBy } = row;
  return {
    id: idOf(id),
    observation: clipJson(content),
    learned: timeOf(row, "minute", true),
    until: timeOf({ createdAt: supersededAt ?? 0, source: null }, "minute"),
    replaced_by: supersededBy === null ? undefined : idOf(supersededBy),
  };
}

/** Cuts a text so that its JSON fits into the limit. */
function clipJson(text: string): string {
  let result = text;
  // No character has more than six in JSON.
  while (result.length * 6 > MAX_SHOWN && JSON.stringify(result).length > MAX_SHOWN)
    result = `${clip(result, Math.floor(result.length * 0.9))}…`;
  return result;
}

/**
 * Truncates the lists of a response to stay within the budget, and reports how many items are not shown. The change is
 * already saved at this point, so its echo may be truncated but must never fail.
 *
 * @param budget characters of JSON.
 */
export function bounded<Answer extends object>(
  answer: Answer,
  budget: number,
): Answer & { not_shown?: number } {
  let remaining = budget - 500;
  let cut = 0;
  const fits = (item: unknown) => {
    remaining -= JSON.stringify(item).length + 1;
    if (remaining < 0) cut += 1;
    return remaining >= 0;
  };
  const result = structuredClone(answer);
  for (const value of Object.values(result))
    if (Array.isArray(value)) value.splice(0, value.length, ...value.filter(fits));
  return cut === 0 ? result : { ...result, not_shown: cut };
}
