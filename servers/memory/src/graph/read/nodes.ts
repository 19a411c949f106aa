import { cursorsOf, grouped } from "@refmcp/boundary/answer";
import type { Reader, Store } from "../store/store.ts";
import { type EntityRow, idsOf } from "../types.ts";
import { FRAME, type GraphPage, type PageRequest } from "./graph.ts";
import { didYouMean, quoteAll, unknownEntities } from "./names.ts";
import { naturals, Page } from "./page.ts";
import { neighbors } from "./walk.ts";

/** Maximum number of entities that `depth` adds. */
const MAX_NEIGHBORS = 500;

/** Where a list of entities, followed by their relations, continues. */
interface Position {
  /** 1 if all entities were returned. */
  readonly relations: number;
  /** The index of the entity. */
  readonly at: number;
  /** The last returned observation of it, or the last relation. */
  readonly after: number;
}

/**
 * Entities by exact name with all observations, and their relations; with `depth`, also the entities around them, and
 * with `history`, also superseded observations.
 *
 * @throws ToolError `not_found` if none of the names exists.
 */
export async function openNodes(
  store: Store,
  {
    names,
    depth,
    history = false,
    cursor,
    budget,
  }: PageRequest & { names: readonly string[]; depth: number; history?: boolean },
): Promise<GraphPage> {
  const wanted = [...new Set(names.map((name) => name.toWellFormed()))];
  const check = naturals("relations", "at", "after");
  const cursors = cursorsOf("open_nodes", [wanted, depth, history], check);
  const start = cursors.decode(cursor) ?? { relations: 0, at: 0, after: 0 };
  return store.read(async (reader) => {
    const known = await reader.entitiesNamed(wanted);
    const missing = wanted.filter((name) => !known.has(name));
    if (known.size === 0 && wanted.length > 0) throw await unknownEntities(reader, missing);
    const named = wanted.flatMap((name) => known.get(name) ?? []);
    const around = await neighbors(reader, idsOf(named), depth, MAX_NEIGHBORS);
    const page = new Page(budget - FRAME);
    page.reserve(missing, true);
    const next = await fill(reader, page, [...named, ...around.entities], start, history);
    const notes = [
      missing.length === 0 ? "" : await missingNote(reader, missing),
      around.isCut
        ? `Only the nearest ${grouped(MAX_NEIGHBORS)} entities around them are included.`
        : "",
    ].filter((note) => note !== "");
    return {
      entities: page.entities,
      relations: page.relations,
      not_found: missing.length === 0 ? undefined : missing,
      note: notes.join(" ") || undefined,
      next_cursor: next && cursors.encode(next),
    };
  });
}

async function missingNote(reader: Reader, missing: readonly string[]): Promise<string> {
  const like = await didYouMean(reader, missing);
  return `Not found: ${quoteAll(missing)}.${like === "" ? "" : ` ${like}`} Names are exact; search_nodes finds them.`;
}

/** Fills a page from a position; returns where the next one continues. */
async function fill(
  reader: Reader,
  page: Page,
  rows: readonly EntityRow[],
  start: Position,
  history: boolean,
): Promise<Position | undefined> {
  const ids = idsOf(rows);
  const isTold = start.relations === 1;
  for (const [index, row] of (isTold ? [] : rows.slice(start.at)).entries()) {
    const rest = await page.addEntity(
      reader,
      row,
      index === 0 ? start.after : 0,
      history ? "history" : "sources",
    );
    if (rest !== undefined) return { relations: 0, at: start.at + index, after: rest };
  }
  const after = await page.addRelations(
    (last, limit) => reader.relationsOf(ids, { after: last, limit }),
    isTold ? start.after : 0,
  );
  return after === undefined ? undefined : { relations: 1, at: 0, after };
}
