import { withNear } from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import { look, text } from "./look.ts";

/** A table as SQLite lists it: `table`, `view` or `virtual`. */
export interface Table {
  readonly name: string;
  readonly type: string;
}

/** Tables and views, sorted by name; SQLite's own and the shadow tables of virtual ones are left out. */
export async function listTables(
  databases: Databases,
  database: string | undefined,
  signal: AbortSignal,
): Promise<Table[]> {
  const [rows = []] = await look(databases, database, signal, [
    [
      "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    ],
  ]);
  return rows.map(({ name, type }) => ({ name: text(name), type: text(type) }));
}

/** Names of the columns that take values; generated ones do not. */
export async function tableColumns(
  databases: Databases,
  database: string | undefined,
  table: string,
  signal: AbortSignal,
): Promise<string[]> {
  const [rows = []] = await look(databases, database, signal, [
    ["SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid", table],
  ]);
  return rows.map(({ name }) => text(name));
}

/** A table or view by its name in any case; @throws ToolError `not_found` with near names. */
export async function tableFound(
  databases: Databases,
  database: string | undefined,
  name: string,
  signal: AbortSignal,
): Promise<Table> {
  const tables = await listTables(databases, database, signal);
  const found = tables.find((table) => table.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const names = tables.map((table) => table.name);
  throw withNear("table", name, names, "Call list_tables for the names.");
}
