import { withNear } from "@refmcp/sql";
import { look, type Source, text } from "./look.ts";

/** A table as SQLite lists it: `table`, `view` or `virtual`. */
export interface Table {
  readonly name: string;
  readonly type: string;
}

const TABLES = `SELECT name, type FROM pragma_table_list
  WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`;

/** Tables and views, sorted by name, without SQLite's own and the shadow tables of virtual ones. */
export async function listTables(source: Source): Promise<Table[]> {
  const [rows = []] = await look(source, [[TABLES]]);
  return rows.map(({ name, type }) => ({ name: text(name), type: text(type) }));
}

/** The names of a table's columns without the hidden ones of virtual tables, which no query shows. */
export async function tableColumns(source: Source, table: string, isWritable = false): Promise<string[]> {
  const sql = `SELECT name FROM pragma_table_xinfo(?) WHERE hidden ${isWritable ? "= 0" : "<> 1"} ORDER BY cid`;
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
  const found = tables.find((table) => table.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const names = tables.map((table) => table.name);
  throw withNear("table", name, names, hint);
}
