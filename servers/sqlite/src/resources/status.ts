import { grouped } from "@refmcp/boundary/answer";
import { reasonOf, statusResource } from "@refmcp/sql";
import { resource } from "../context.ts";
import { complete, listTables, NO_TABLES } from "../database/reading/catalog.ts";

export default resource({
  ...statusResource,
  async read({ database: name }, databases, { signal }) {
    const database = databases.names().length === 0 ? undefined : name;
    const tables = await listTables({ databases, database, signal }).catch(reasonOf);
    if (typeof tables === "string") return tables;
    return tables.length === 0
      ? NO_TABLES
      : `${name} has ${grouped(tables.length)} tables and views.`;
  },
  complete: { database: complete.database },
});
