import {
  type ColumnFacts,
  type Description,
  quoteIdentifier,
  type Relation,
  type TableFacts,
  type Work,
} from "@refmcp/sql";
import { type ColumnValues, describedValues, looksConfidential } from "@refmcp/sql/values";
import { tokenize } from "../gate/tokens.ts";
import { attempt, look, type Row, type Source, text } from "./look.ts";
import { checksOf, written } from "./names.ts";
import * as sql from "./relations.sql.ts";

/** Rows are counted up to this number and for this time, in milliseconds: a view may be endless. */
const COUNTED = 100_000;
const COUNTING_MS = 3_000;
const SAMPLE = { skip: 0, rows: 3, chars: 4_096, cellBytes: 200 };
/** How long the look at values may take before the process that does it ends, in milliseconds. */
const LOOK_MS = 3_000;

/** A list of names in JSON; an expression of an index has none, nor has a column that a foreign key does not name. */
const listed = (names: unknown): (string | null)[] => JSON.parse(text(names));
const writtenNames = (names: unknown) =>
  listed(names).map((name) => (name === null ? "(expression)" : written(name)));

/** Tables and views. */
export async function relationsIn(source: Source, work: Work): Promise<Relation[]> {
  const [rows = []] = await look(source, [[sql.TABLES]], work);
  return rows.map(({ name, type }) => ({
    id: text(name),
    schema: "main",
    name: text(name),
    written: written(text(name)),
    type: text(type),
  }));
}

/** A table with what the look at its values needs. */
interface Catalog {
  readonly relation: Relation;
  readonly columns: readonly Row[];
  readonly keys: readonly Row[];
  readonly unique: readonly Row[];
  readonly hasRowId: boolean;
  readonly ddl: string;
}

/** A broken view has no columns. */
async function catalogOf(
  source: Source,
  relations: readonly Relation[],
  work: Work,
): Promise<Catalog[]> {
  const each = [sql.COLUMNS, sql.KEYS, sql.UNIQUE, sql.FLAGS, sql.DDL];
  const queries = relations.flatMap(({ name }) => each.map((own) => [own, name] as const));
  const rows = await look(source, queries, { ...work, isTolerant: true });
  return relations.map((relation, index) => {
    const at = index * each.length;
    const [columns = [], keys = [], unique = [], [flags] = [], [object] = []] = rows.slice(at);
    const names = columns.map(({ name }) => text(name).toLowerCase());
    const hasRowId =
      relation.type === "table" && Number(flags?.wr) === 0 && !names.includes("rowid");
    return { relation, columns, keys, unique, hasRowId, ddl: text(object?.sql) };
  });
}

/** What is known about the values of tables' columns: what CHECK constraints allow, and texts that their rows have. */
async function valuesOf(
  { place, pool }: Source,
  tables: readonly Catalog[],
  { signal }: Work,
): Promise<Map<string, ColumnValues>[]> {
  const searched = tables.map(({ relation: { name, type }, columns, unique, hasRowId }) => {
    const wanted = columns.filter(
      ({ name, type: declared, pk, hidden }) =>
        type === "table" &&
        /char|clob|text/i.test(text(declared)) &&
        Number(pk) === 0 &&
        Number(hidden) === 0 &&
        !unique.some((indexed) => indexed.name === name) &&
        !looksConfidential(text(name)),
    );
    return { table: name, columns: wanted.map((column) => text(column.name)), hasRowId };
  });
  const job = { place, tables: searched.filter(({ columns }) => columns.length > 0) };
  const run = () => pool.run("seen", job, { signal, timeoutMs: LOOK_MS }, true);
  // A table that can't be read has no values.
  const answers = job.tables.length === 0 ? [] : ((await attempt([], "Values", run())) ?? []);
  const seen = new Map(job.tables.map(({ table }, at) => [table, answers[at] ?? {}]));
  return tables.map(({ relation, columns, ddl }) => {
    const names = columns.map(({ name }) => text(name));
    const checks = checksOf(tokenize(ddl), names);
    return new Map(
      names.map((name) => {
        const values = seen.get(relation.name)?.[name];
        const literals = values?.map((value) => `'${value.replaceAll("'", "''")}'`);
        return [name, { checks: checks.get(name.toLowerCase()), seen: literals }];
      }),
    );
  });
}

/** Columns and keys of tables. */
export async function factsOf(
  source: Source,
  relations: readonly Relation[],
  work: Work,
): Promise<TableFacts[]> {
  const tables = await catalogOf(source, relations, work);
  const values = await valuesOf(source, tables, work);
  return tables.map(({ columns, keys }, at) => ({
    columns: columns.map((column) => ({
      ...columnOf(column, keys),
      ...values[at]?.get(text(column.name)),
    })),
  }));
}

function columnOf(column: Row, keys: readonly Row[]): ColumnFacts {
  const name = text(column.name);
  const key = keys.find(({ from }) => listed(from).includes(name));
  const target = key === undefined ? undefined : listed(key.to)[listed(key.from).indexOf(name)];
  return {
    name: written(name),
    type: text(column.type),
    notNull: Number(column.notnull) === 1,
    primaryKey: Number(column.pk) > 0,
    references: key && [text(key.other), ...(target ? [target] : [])].map(written).join("."),
  };
}

/** Columns, keys in both directions, indexes, triggers, DDL, row count and first rows of one table. */
export async function describe(
  source: Source,
  relation: Relation,
  { signal }: Work,
): Promise<Description> {
  const { name, type } = relation;
  const notices: string[] = [];
  await attempt(notices, "Columns", look(source, [[sql.COLUMNS, name]], { signal }));
  const [catalog] = await catalogOf(source, [relation], { signal });
  const { columns = [], keys = [], ddl = "" } = catalog ?? {};
  const parts = [sql.REFERRERS, sql.INDEXES, sql.DEFINITIONS, sql.FLAGS];
  const [referrers = [], indexes = [], items = [], [flags] = []] = await look(
    source,
    parts.map((own) => [own, name] as const),
    { signal },
  );
  const [values] = catalog === undefined ? [] : await valuesOf(source, [catalog], { signal });
  const sample = await attempt(notices, "Sample", firstRows(source, name, signal));
  const count = `SELECT count(*) AS rows FROM (SELECT 1 FROM ${quoteIdentifier(name)} LIMIT ${COUNTED + 1})`;
  const counting = look(source, [[count]], { signal, timeoutMs: COUNTING_MS, isLong: true });
  const counted = await attempt(notices, "Number of rows", counting);
  const rows = counted === undefined ? undefined : Number(counted[0]?.[0]?.rows ?? 0);
  const own = items.find((object) => object.type === (type === "view" ? "view" : "table"));
  return {
    table: relation.written,
    type,
    ...(rows === undefined ? {} : { row_count: Math.min(rows, COUNTED) }),
    ...(rows !== undefined && rows > COUNTED ? { more_rows: true } : {}),
    ...(type === "table" && Number(flags?.wr) === 1 ? { without_rowid: true } : {}),
    ...(Number(flags?.strict) === 1 ? { strict: true } : {}),
    columns: columns.map((column) => ({
      name: written(text(column.name)),
      type: text(column.type),
      ...describedValues(values?.get(text(column.name)) ?? {}),
      not_null: Number(column.notnull) === 1,
      ...(column.dflt_value === null ? {} : { default: text(column.dflt_value) }),
      ...(Number(column.pk) === 0 ? {} : { primary_key: Number(column.pk) }),
      ...(Number(column.hidden) >= 2 ? { generated: true } : {}),
    })),
    foreign_keys: keys.map(reference),
    referenced_by: referrers.map(reference),
    indexes: indexes.map(({ name, unique, partial, columns: indexed }) => ({
      name: written(text(name)),
      unique: Number(unique) === 1,
      columns: writtenNames(indexed),
      ...(Number(partial) === 0 && !listed(indexed).includes(null)
        ? {}
        : {
            ddl: text(items.find((object) => object.type === "index" && object.name === name)?.sql),
          }),
    })),
    triggers: items.flatMap((object) => (object.type === "trigger" ? [text(object.sql)] : [])),
    ddl: ddl === "" ? text(own?.sql) : ddl,
    ...(sample === undefined || sample.length === 0 ? {} : { sample }),
    ...(notices.length === 0 ? {} : { notices }),
  };
}

async function firstRows(
  { place, pool }: Source,
  name: string,
  signal: AbortSignal,
): Promise<unknown[][]> {
  const statement = `SELECT * FROM ${quoteIdentifier(name)} LIMIT ${SAMPLE.rows}`;
  const job = { place, sql: statement, params: [], ...SAMPLE, format: "rows" as const };
  const { text } = await pool.run("read", job, { signal, timeoutMs: COUNTING_MS });
  return JSON.parse(`[${text.replaceAll("\n", ",")}]`);
}

function reference({ other, from, to, on_delete }: Row) {
  return {
    table: written(text(other)),
    columns: writtenNames(from),
    ...(listed(to).includes(null) ? {} : { references: writtenNames(to) }),
    ...(on_delete === "NO ACTION" ? {} : { on_delete: text(on_delete) }),
  };
}

/** The columns of a table that can be written. */
export async function writableColumns(
  source: Source,
  { name }: Relation,
  work: Work,
): Promise<string[]> {
  const [rows = []] = await look(source, [[sql.WRITABLE, name]], work);
  return rows.map((row) => text(row.name));
}
