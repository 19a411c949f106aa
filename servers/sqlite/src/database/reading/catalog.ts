import { ToolError } from "@refmcp/boundary/answer";
import { unquoted, withNear } from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import { written } from "./names.ts";

export interface Source {
  readonly databases: Databases;
  readonly database?: string | undefined;
  readonly signal: AbortSignal;
}

export type Row = Readonly<Record<string, unknown>>;

/**
 * Runs our own statements and returns the rows of each.
 *
 * @param timeoutMs for statements that may take long, because they read rows or run a view: they take turns with queries
 * @param isTolerant a statement that fails has no rows
 */
export async function look(
  { databases, database, signal }: Source,
  statements: readonly (readonly [sql: string, ...params: unknown[]])[],
  { timeoutMs, isTolerant = false }: { timeoutMs?: number; isTolerant?: boolean } = {},
): Promise<Row[][]> {
  const place = await databases.place(database);
  const job = {
    place,
    isTolerant,
    statements: statements.map(([sql, ...params]) => ({ sql, params })),
  };
  const runners = timeoutMs === undefined ? databases.catalog : databases.runners;
  return await runners.run("look", job, {
    signal,
    timeoutMs: timeoutMs ?? databases.limits().timeoutMs,
  });
}

/** For work that may fail, for example on a broken or endless view. A failure becomes a notice. */
export function attempting(notices: string[]) {
  return async <Answer>(what: string, work: () => Promise<Answer>): Promise<Answer | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ToolError) || error.kind === "cancelled") throw error;
      notices.push(`${what}: ${error.message}`);
      return undefined;
    }
  };
}

export const text = (value: unknown) => (typeof value === "string" ? value : String(value ?? ""));

/** A table as SQLite lists it: `table`, `view` or `virtual`. */
export interface Table {
  readonly name: string;
  readonly type: string;
  readonly hasRowId: boolean;
}

const TABLES = `SELECT name, type, wr FROM pragma_table_list
  WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`;

/** Tables and views, sorted by name, without SQLite's own and the shadow tables of virtual ones. */
export async function listTables(source: Source): Promise<Table[]> {
  const [rows = []] = await look(source, [[TABLES]]);
  return rows.map(({ name, type, wr }) => ({
    name: text(name),
    type: text(type),
    hasRowId: type === "table" && Number(wr) === 0,
  }));
}

/** The names of a table's columns that can be written. */
export async function tableColumns(source: Source, table: string): Promise<string[]> {
  const sql = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid";
  const [rows = []] = await look(source, [[sql, table]]);
  return rows.map(({ name }) => text(name));
}

/** A table or view by its name in any case; @throws ToolError `not_found` with similar names. */
export async function tableFound(
  source: Source,
  name: string,
  { types = ["table", "view", "virtual"], hint = "Call list_tables for the names." } = {},
): Promise<Table> {
  const tables = (await listTables(source)).filter(({ type }) => types.includes(type));
  for (const one of [name, unquoted(name)]) {
    const found = tables.find((table) => table.name.toLowerCase() === one.toLowerCase());
    if (found !== undefined) return found;
  }
  const names = tables.map((table) => table.name);
  throw withNear("table", name, names, hint, written);
}

const THOROUGH_MS = 5_000;
const FACTS = `SELECT * FROM pragma_page_count, pragma_page_size, pragma_freelist_count, pragma_journal_mode,
  pragma_encoding, (SELECT sqlite_version() AS version)`;
const CHECK = "SELECT quick_check FROM pragma_quick_check LIMIT 10";
/** sqlite_schema has no index on its names, a materialized copy gets one. */
const LARGEST = `WITH s AS MATERIALIZED (SELECT name, tbl_name FROM sqlite_schema)
  SELECT coalesce(s.tbl_name, d.name) AS name, sum(d.pgsize) AS bytes FROM dbstat d LEFT JOIN s ON s.name = d.name
  WHERE d.aggregate = TRUE GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`;

/** Size, pages, journal mode, a quick check of the file and its largest tables. */
export async function databaseInfo(source: Source) {
  const [[facts = {}] = []] = await look(source, [[FACTS]]);
  const notices: string[] = [];
  const attempt = attempting(notices);
  const thorough = { timeoutMs: THOROUGH_MS };
  const check = await attempt("Integrity", () => look(source, [[CHECK]], thorough));
  const largest = await attempt("Largest tables", () => look(source, [[LARGEST]], thorough));
  return {
    size_bytes: Number(facts.page_count) * Number(facts.page_size),
    page_size: Number(facts.page_size),
    page_count: Number(facts.page_count),
    free_pages: Number(facts.freelist_count),
    journal_mode: text(facts.journal_mode),
    encoding: text(facts.encoding),
    ...(check && { integrity: check.flat().map(({ quick_check }) => text(quick_check)) }),
    ...(largest && {
      largest_tables: largest
        .flat()
        .map(({ name, bytes }) => ({ name: text(name), bytes: Number(bytes) })),
    }),
    sqlite_version: text(facts.version),
    ...(notices.length > 0 && { notices }),
  };
}

/** For completions and lists, which no call can cancel: only the time limit ends them. */
export const { signal: never } = new AbortController();
type Filled = Readonly<Record<string, string>>;
const begins = (value: string) => (name: string) =>
  name.toLowerCase().startsWith(value.toLowerCase());

/** Existing names for the variables of a resource. */
export const complete = {
  database: (value: string, databases: Databases) => databases.names().filter(begins(value)),
  table: async (value: string, databases: Databases, { database }: Filled) =>
    (await listTables({ databases, database, signal: never }))
      .map(({ name }) => name)
      .filter(begins(value)),
};
