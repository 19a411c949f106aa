import { cursorsOf, fitCount } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Database, Relation, Work } from "../database.ts";
import type { Databases } from "../databases.ts";
import { bounded, summary } from "./describe.ts";
import { unquoted, withNear } from "./names.ts";

/** A table as a caller names it. */
export interface TableName {
  /** Name, or schema.name, quoted or not. */
  readonly table: string;
  readonly schema?: string | undefined;
}

/** Where a relation is in a list: tables before views, then by schema and name. */
const placeOf = ({ type, schema, name }: Relation) =>
  [type.endsWith("view") ? "1" : "0", schema, name].join("\0");

/** Tables and views in the order of lists. */
export async function relationsOf(
  database: Database,
  schema: string | undefined,
  work: Work,
): Promise<Relation[]> {
  const relations = await database.relations({ ...work, schema });
  return relations.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

/** Ways to read a name: pairs of schema and name, as written and without quotes. */
function readingsOf({ table, schema }: TableName): [schema: string | undefined, name: string][] {
  const [, before, after = ""] = /^("(?:[^"]|"")+"|[^".]+)\.(.+)$/s.exec(table) ?? [];
  const readings: [string | undefined, string][] = [[schema, table]];
  if (before !== undefined && schema === undefined) readings.push([before, after]);
  const plain = readings.map(([space, name]): [string | undefined, string] => [
    space === undefined ? undefined : unquoted(space),
    unquoted(name),
  ]);
  return [...readings, ...plain];
}

/**
 * Finds a table or view by its name: in its schema, or the one that SQL would find first.
 *
 * @param types of what it may be; default: anything with columns
 * @throws ToolError `not_found` with similar names
 */
export async function findRelation(
  { kind }: Databases,
  database: Database,
  wanted: TableName,
  work: Work,
  { types, hint }: { readonly types?: readonly string[]; readonly hint?: string } = {},
): Promise<Relation> {
  const isWanted = ({ type }: Relation) => types === undefined || types.includes(type);
  let names = new Map<string, string>();
  for (const [schema, name] of readingsOf(wanted)) {
    const relations = (await relationsOf(database, schema, work)).filter(isWanted);
    if (names.size === 0) names = new Map(relations.map(({ name, written }) => [name, written]));
    const same = (text: string) =>
      relations
        .filter((relation) => text === relation.name || text === relation.name.toLowerCase())
        .sort((a, b) => Number(b.isVisible ?? true) - Number(a.isVisible ?? true));
    const [relation] = [...same(name), ...same(name.toLowerCase())];
    if (relation !== undefined) return relation;
  }
  const near = hint ?? `Call ${kind.names.describe} with detail names for all names.`;
  throw withNear("table", wanted.table, names.keys(), near, (bare) => names.get(bare) ?? bare);
}

export interface TablesAsked {
  readonly table?: string | undefined;
  readonly match?: string | undefined;
  readonly column?: string | undefined;
  readonly schema?: string | undefined;
  readonly detail?: "names" | "concise" | "full" | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface TablesAnswer {
  readonly tables?: { table: string; type: string; columns?: unknown[]; [fact: string]: unknown }[];
  /** By schema and type. */
  readonly names?: Record<string, Record<string, string[]>>;
  readonly next_cursor?: string | undefined;
}

const AT_ONCE = 100;

/**
 * What `describe_tables` returns: names by schema and type, a line for each column, or everything about each table; as many
 * tables as fit in the answer.
 */
export async function describeTables(
  databases: Databases,
  database: Database,
  asked: TablesAsked,
  { signal, budget }: { readonly signal: AbortSignal; readonly budget: number },
): Promise<TablesAnswer> {
  const work = { signal };
  const { table, limit, cursor } = asked;
  const schema = asked.schema === undefined ? undefined : unquoted(asked.schema);
  const part = unquoted(asked.match ?? "").toLowerCase();
  const column = unquoted(asked.column ?? "");
  const detail = asked.detail ?? (table === undefined ? "concise" : "full");
  const cursors = cursorsOf(
    databases.kind.names.describe,
    [database.name, table, schema, part, column, detail],
    z.string(),
  );
  const after = cursors.decode(cursor);
  const relations =
    table === undefined
      ? await relationsOf(database, schema, work)
      : [await findRelation(databases, database, { table, schema }, work)];
  const wanted = relations.filter(
    (relation) =>
      (after === undefined || placeOf(relation) > after) &&
      relation.name.toLowerCase().includes(part),
  );
  const space = budget - 400;
  const next = (last: Relation | undefined, isMore: boolean) =>
    isMore && last !== undefined ? { next_cursor: cursors.encode(placeOf(last)) } : {};
  if (detail === "names") {
    const fits = fitCount(wanted, space, ({ name }) => name.length + 4);
    const page = wanted.slice(0, Math.min(limit, fits));
    return { names: grouped(page), ...next(page.at(-1), page.length < wanted.length) };
  }
  // Views repeat columns of tables: in an overview, their names are enough.
  const isOverview = part === "" && column === "" && detail === "concise";
  const tables: NonNullable<TablesAnswer["tables"]> = [];
  const places: Relation[] = [];
  const atOnce = detail === "full" ? 1 : AT_ONCE;
  const isFull = () => tables.length > limit || fitCount(tables, space) < tables.length;
  let at = 0;
  for (; at < wanted.length && !isFull(); at += atOnce) {
    const some = wanted.slice(at, at + atOnce);
    const facts = await database.facts(some, work);
    for (const [index, relation] of some.entries()) {
      const short = summary(relation, facts[index] ?? { columns: [] }, column);
      if (column !== "" && short.columns.length === 0) continue;
      if (detail === "full") tables.push(bounded(await database.describe(relation, work), space));
      else if (isOverview && relation.type.endsWith("view"))
        tables.push({ table: short.table, type: short.type });
      else tables.push(short);
      places.push(relation);
    }
  }
  const page = tables.slice(0, Math.min(limit, fitCount(tables, space)));
  const isMore = page.length < tables.length || at < wanted.length;
  return { tables: page, ...next(places[page.length - 1], isMore) };
}

/** Names by schema and type. */
function grouped(relations: readonly Relation[]): Record<string, Record<string, string[]>> {
  const schemas: Record<string, Record<string, string[]>> = {};
  for (const { schema, type, written } of relations) {
    const types = schemas[schema] ?? {};
    schemas[schema] = types;
    types[type] = [...(types[type] ?? []), written];
  }
  return schemas;
}
