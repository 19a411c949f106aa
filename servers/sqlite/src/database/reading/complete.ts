import type { Databases } from "../connection/databases.ts";
import { look, text } from "./look.ts";
import { listTables } from "./tables.ts";

const none = new AbortController().signal;
const begins = (value: string) => (name: string) => name.toLowerCase().startsWith(value.toLowerCase());

/** Suggestions for the variables of a resource, by what there is. */
export const complete = {
  database: (value: string, databases: Databases) => databases.names().filter(begins(value)),
  table: async (value: string, databases: Databases, { database }: Readonly<Record<string, string>>) =>
    (await listTables(databases, database, none)).map(({ name }) => name).filter(begins(value)),
};

/** Columns of the table that is filled in already. */
export async function completeColumn(
  value: string,
  databases: Databases,
  { database, table }: Readonly<Record<string, string>>,
): Promise<string[]> {
  if (table === undefined) return [];
  const sql = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid";
  const [rows = []] = await look(databases, database, none, [[sql, table]]);
  return rows.map(({ name }) => text(name)).filter(begins(value));
}
