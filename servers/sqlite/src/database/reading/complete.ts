import type { Databases } from "../connection/databases.ts";
import { listTables, tableColumns } from "./tables.ts";

const { signal } = new AbortController();
type Filled = Readonly<Record<string, string>>;
const begins = (value: string) => (name: string) => name.toLowerCase().startsWith(value.toLowerCase());

/** Existing names for the variables of a resource. */
export const complete = {
  database: (value: string, databases: Databases) => databases.names().filter(begins(value)),
  table: async (value: string, databases: Databases, { database }: Filled) =>
    (await listTables({ databases, database, signal })).map(({ name }) => name).filter(begins(value)),
};

/** Columns of the table, if one is filled in. */
export const completeColumn = async (value: string, databases: Databases, { database, table }: Filled) =>
  table === undefined
    ? []
    : (await tableColumns({ databases, database, signal }, table)).filter(begins(value));
