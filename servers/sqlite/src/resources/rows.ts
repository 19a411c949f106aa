import { quoteIdentifier } from "@refmcp/sql";
import { resource } from "../context.ts";
import { complete, tableFound } from "../database/reading/catalog.ts";
import { query } from "../database/reading/query.ts";

export default resource({
  uriTemplate: "rows://{database}/{table}",
  name: "rows",
  title: "A table's first rows",
  description: "The first 200 rows of one table or view, as returned by read_query.",
  mimeType: "application/json",
  async read({ database, table }, databases, { budget, signal }) {
    const { name } = await tableFound({ databases, database, signal }, table);
    return await query(databases, {
      sql: `SELECT * FROM ${quoteIdentifier(name)}`,
      params: [],
      database,
      maxRows: 200,
      format: "rows",
      budget,
      signal,
    });
  },
  complete,
});
