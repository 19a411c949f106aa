import { clip, cursorsOf, fitting, grouped } from "@refmcp/boundary/answer";
import { quoteIdentifier, tokenize, unquoted } from "@refmcp/sql";
import { pageOf, summarized, type TableFacts, type TablesAsked } from "@refmcp/sql/tools";
import { type ColumnValues, describedValues, looksConfidential } from "@refmcp/sql/values";
import * as z from "zod";
import {
  attempting,
  listTables,
  look,
  type Row,
  type Source,
  type Table,
  tableFound,
  text,
} from "./catalog.ts";
import { checksOf, written } from "./names.ts";

/** Rows are counted up to this number and for this time, in milliseconds: a view may be endless. */
const COUNTED = 100_000;
const COUNTING_MS = 3_000;
const SAMPLE = { rows: 3, chars: 4_096, ms: 0, cellBytes: 200 };
const MAX_DDL_CHARS = 6_000;

/** Without the hidden columns of virtual tables, which SELECT * omits. */
const COLUMNS =
  'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid';
/** Foreign keys with lists of columns; without `to` they reference the primary key. */
const KEYS = `SELECT "table" AS other, json_group_array("from") AS "from", json_group_array("to") AS "to", on_delete
  FROM (SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq) GROUP BY id ORDER BY id`;
const REFERRERS = `SELECT other, json_group_array("from") AS "from", json_group_array("to") AS "to", on_delete
  FROM (SELECT s.name AS other, f.* FROM sqlite_schema s JOIN pragma_foreign_key_list(s.name) f
    WHERE s.type = 'table' AND lower(f."table") = lower(?) ORDER BY s.name, f.id, f.seq)
  GROUP BY other, id ORDER BY other, id`;
const INDEXES = `SELECT i.name, i."unique", i.partial, i.origin, json_group_array(c.name) AS columns
  FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c GROUP BY i.name ORDER BY i.name`;
/** Columns that have their own unique index, so that their values differ. */
const UNIQUE = `SELECT max(c.name) AS name FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c
  WHERE i."unique" = 1 AND i.partial = 0 GROUP BY i.name HAVING count(*) = 1`;
const DEFINITIONS =
  "SELECT name, type, sql FROM sqlite_schema WHERE tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL ORDER BY type, name";
const STRICT = "SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ?";
/** The DDL of tables whose names are in a JSON array. */
const DDL =
  "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name IN (SELECT value FROM json_each(?))";

/** A list of names in JSON; an expression of an index has none, nor has a column that a foreign key does not name. */
const listed = (names: unknown): (string | null)[] => JSON.parse(text(names));
const shown = (names: unknown) =>
  listed(names).map((one) => (one === null ? "(expression)" : written(one)));

/** How long the look at values may take before the process that does it ends, in milliseconds. */
const LOOK_MS = 3_000;

/** A table with what the look at its values needs. */
type Known = Readonly<{
  table: Table;
  columns: readonly Row[];
  unique: readonly Row[];
  ddl: string;
}>;

/** What is known about the values of tables' columns: what CHECK constraints allow, and texts that their rows have. */
async function valuesOf(
  source: Source,
  tables: readonly Known[],
): Promise<Map<string, ColumnValues>[]> {
  const { databases, database, signal } = source;
  const looked = tables.map(({ table: { name: table, type, ...found }, columns, unique }) => {
    const names = columns.map(({ name }) => text(name).toLowerCase());
    const hasRowId = found.hasRowId && !names.includes("rowid");
    const wanted = columns.filter(
      ({ name, type: declared, pk, hidden }) =>
        type === "table" &&
        /char|clob|text/i.test(text(declared)) &&
        Number(pk) === 0 &&
        Number(hidden) === 0 &&
        !unique.some((one) => one.name === name) &&
        !looksConfidential(text(name)),
    );
    return {
      table,
      columns: wanted.map(({ name }) => text(name)),
      hasRowId,
    };
  });
  const place = await databases.place(database);
  const job = { place, tables: looked.filter(({ columns }) => columns.length > 0) };
  const run = () => databases.runners.run("seen", job, { signal, timeoutMs: LOOK_MS }, true);
  // A table that can't be read has no values.
  const found = (job.tables.length === 0 ? undefined : await attempting([])("Values", run)) ?? [];
  const seen = new Map(job.tables.map(({ table }, at) => [table, found[at] ?? {}]));
  return tables.map(({ table, columns, ddl }) => {
    const names = columns.map(({ name }) => text(name));
    const checks = checksOf(tokenize(ddl), names);
    return new Map(
      names.map((name) => {
        const values = seen.get(table.name)?.[name];
        const literals = values?.map((value) => `'${value.replaceAll("'", "''")}'`);
        return [name, { checks: checks.get(name.toLowerCase()), seen: literals }];
      }),
    );
  });
}

/** Columns, keys in both directions, indexes, triggers, DDL, row count and first rows of one table. */
export async function describeTable(source: Source, name: string, budget: number) {
  const found = await tableFound(source, name);
  const notices: string[] = [];
  const attempt = attempting(notices);
  const [columns = []] =
    (await attempt("Columns", () => look(source, [[COLUMNS, found.name]]))) ?? [];
  const parts = [UNIQUE, KEYS, REFERRERS, INDEXES, DEFINITIONS, STRICT];
  const [unique = [], keys = [], referrers = [], indexes = [], made = [], [flags] = []] =
    await look(
      source,
      parts.map((sql) => [sql, found.name]),
    );
  const own = made.find(({ type }) => type === (found.type === "view" ? "view" : "table"));
  const known = { table: found, columns, unique, ddl: text(own?.sql) };
  const [values = new Map<string, ColumnValues>()] = await valuesOf(source, [known]);
  const sample = await attempt("Sample", () => firstRows(source, found));
  const count = `SELECT count(*) AS rows FROM (SELECT 1 FROM ${quoteIdentifier(found.name)} LIMIT ${COUNTED + 1})`;
  const counted = await attempt("Number of rows", () =>
    look(source, [[count]], { timeoutMs: COUNTING_MS }),
  );
  const rows = counted === undefined ? undefined : Number(counted[0]?.[0]?.rows ?? 0);
  return bounded(
    {
      table: written(found.name),
      type: found.type,
      ...(rows === undefined ? {} : { row_count: Math.min(rows, COUNTED) }),
      ...(rows !== undefined && rows > COUNTED ? { more_rows: true } : {}),
      ...(found.type === "table" && !found.hasRowId ? { without_rowid: true } : {}),
      ...(Number(flags?.strict) === 1 ? { strict: true } : {}),
      columns: columns.map((column) => ({
        name: written(text(column.name)),
        type: text(column.type),
        ...describedValues(values.get(text(column.name)) ?? {}),
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
        columns: shown(indexed),
        ...(Number(partial) === 0 && !listed(indexed).includes(null)
          ? {}
          : { ddl: text(made.find((one) => one.type === "index" && one.name === name)?.sql) }),
      })),
      triggers: made.flatMap(({ type, sql }) => (type === "trigger" ? [text(sql)] : [])),
      ddl: text(own?.sql),
      sample: sample ?? [],
      notices,
    },
    budget,
  );
}

async function firstRows(
  { databases, database, signal }: Source,
  { name }: Table,
): Promise<unknown[][]> {
  const place = await databases.place(database);
  const sql = `SELECT * FROM ${quoteIdentifier(name)} LIMIT ${SAMPLE.rows}`;
  const job = {
    place,
    sql,
    params: [],
    ...SAMPLE,
    format: "rows" as const,
    skip: 0,
  };
  const { text } = await databases.runners.run("read", job, { signal, timeoutMs: COUNTING_MS });
  return JSON.parse(`[${text.replaceAll("\n", ",")}]`);
}

function reference({ other, from, to, on_delete }: Row) {
  return {
    table: written(text(other)),
    columns: shown(from),
    ...(listed(to).includes(null) ? {} : { references: shown(to) }),
    ...(on_delete === "NO ACTION" ? {} : { on_delete: text(on_delete) }),
  };
}

/** What is cut from a description that is too long. */
interface Description
  extends Record<"triggers" | "referenced_by" | "foreign_keys" | "indexes" | "columns", unknown[]> {
  ddl: string;
  readonly notices: string[];
  readonly sample: unknown[][];
}

/** The description within the answer's budget: the least important parts are cut first, with a notice. */
function bounded<Whole extends Description>(whole: Whole, budget: number) {
  const { notices } = whole;
  const before = notices.length;
  const over = () => JSON.stringify(whole).length - (budget - 600);
  const isLong = over() > 600;
  if (isLong && whole.ddl.length > MAX_DDL_CHARS) {
    notices.push(`The DDL of ${grouped(whole.ddl.length)} characters is truncated.`);
    whole.ddl = `${clip(whole.ddl, MAX_DDL_CHARS)}…`;
  }
  const cut = <Item>(what: string, items: Item[]) => {
    const allowed = JSON.stringify(items).length - over();
    if (!isLong || over() <= 0 || items.length === 0) return;
    const fits = fitting(items, Math.max(1, allowed));
    const keep = fits === 1 && JSON.stringify(items[0]).length > allowed ? 0 : fits;
    notices.push(
      `${grouped(items.length - keep)} of ${grouped(items.length)} ${what} are omitted.`,
    );
    items.splice(keep);
  };
  cut("sample rows", whole.sample);
  cut("triggers", whole.triggers);
  cut("referencing keys", whole.referenced_by);
  cut("foreign keys", whole.foreign_keys);
  cut("indexes", whole.indexes);
  cut("columns", whole.columns);
  if (notices.length > before)
    notices.push(
      "For the rest call read_query: FROM pragma_table_xinfo('…') LIMIT n OFFSET m, FROM sqlite_schema.",
    );
  const { notices: said, sample, ...rest } = whole;
  return {
    ...rest,
    ...(sample.length === 0 ? {} : { sample }),
    ...(said.length === 0 ? {} : { notices: said }),
  };
}

const TABLES_AT_ONCE = 100;

/** Matching tables with their columns and keys, as many as fit in the answer. */
export async function describeTables(asked: TablesAsked & Source) {
  const { database, detail, limit, cursor } = asked;
  const [query, column] = [asked.query, asked.column].map((one) =>
    one === undefined ? undefined : unquoted(one),
  );
  const cursors = cursorsOf("describe_tables", [database, query, column, detail], z.string());
  const after = cursors.decode(cursor);
  const all = await listTables(asked);
  const part = query?.toLowerCase() ?? "";
  const wanted = all.filter(
    ({ name }) => (after === undefined || name > after) && name.toLowerCase().includes(part),
  );
  const budget = asked.budget - 300;
  const shown: ReturnType<typeof summarized>[] = [];
  const names: string[] = [];
  let at = 0;
  for (; at < wanted.length && shown.length <= limit; at += TABLES_AT_ONCE) {
    for (const { name, ...table } of await factsOf(asked, wanted.slice(at, at + TABLES_AT_ONCE))) {
      const one = summarized(table, { column, detail });
      if (column !== undefined && one.columns.length === 0) continue;
      shown.push(one);
      names.push(name);
    }
    if (fitting(shown, budget) < shown.length) break;
  }
  const isMore = at + TABLES_AT_ONCE < wanted.length;
  const { page, ...next } = pageOf(shown, { limit, budget, isMore }, (last) =>
    cursors.encode(names[last] ?? ""),
  );
  return { tables: page, ...next };
}

/** A broken view has no columns. */
async function factsOf(
  source: Source,
  tables: readonly Table[],
): Promise<(TableFacts & { name: string })[]> {
  const each = [COLUMNS, KEYS, INDEXES, UNIQUE];
  const asked = tables.flatMap(({ name }) => each.map((sql) => [sql, name] as const));
  const names = JSON.stringify(tables.map(({ name }) => name));
  const [made = [], ...rows] = await look(source, [[DDL, names], ...asked], { isTolerant: true });
  const ddl = new Map(made.map(({ name, sql }) => [text(name), text(sql)]));
  const known = tables.map((table, at) => {
    const [columns = [], keys = [], indexes = [], unique = []] = rows.slice(at * each.length);
    return { table, columns, keys, indexes, unique, ddl: ddl.get(table.name) ?? "" };
  });
  const values = await valuesOf(source, known);
  return known.map(({ table: { name, type }, columns, keys, indexes }, at) => ({
    name,
    table: written(name),
    type,
    columns: columns.map((one) => ({ ...columnOf(one, keys), ...values[at]?.get(text(one.name)) })),
    indexes: indexes.filter(({ origin }) => origin !== "pk").map(indexText),
  }));
}

function columnOf(column: Row, keys: readonly Row[]) {
  const name = text(column.name);
  const key = keys.find(({ from }) => listed(from).includes(name));
  const target = key === undefined ? undefined : listed(key.to)[listed(key.from).indexOf(name)];
  return {
    name: written(name),
    type: text(column.type),
    notNull: Number(column.notnull) === 1,
    primaryKey: Number(column.pk) > 0,
    references: key && [text(key.other), ...(target ? [target] : [])].map(written).join("."),
    default: column.dflt_value === null ? undefined : text(column.dflt_value),
  };
}

const indexText = ({ name, unique, partial, columns }: Row) =>
  `${written(text(name))} (${shown(columns).join(", ")})${Number(unique) === 1 ? " unique" : ""}${Number(partial) === 1 ? " partial" : ""}`;
