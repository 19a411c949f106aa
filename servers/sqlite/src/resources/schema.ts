import { cursorsOf, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { resource } from "../context.ts";
import { complete, listTables, type Table } from "../database/reading/catalog.ts";
import { describeTable } from "../database/reading/describe.ts";

/** Clients read up to 64 pages. */
const LISTED = 500;

/** A database that can't be read lists nothing, so that the others are listed. */
function none(error: unknown): Table[] {
  if (error instanceof ToolError) return [];
  throw error;
}

export default resource({
  uriTemplate: "schema://{database}/{table}",
  name: "schema",
  title: "A table's schema",
  description: "The result of describe_table for one table.",
  mimeType: "application/json",
  read: async ({ database, table }, databases, { budget, signal }) =>
    JSON.stringify(
      await describeTable({ databases, database, signal }, table, budget),
      undefined,
      2,
    ),
  /** The tables of all named databases, one database after the other. */
  async list(databases, cursor) {
    const names = databases.names();
    const cursors = cursorsOf("schema", names, z.tuple([z.int().min(0), z.string()]));
    const [at, after] = cursors.decode(cursor) ?? [0, ""];
    const database = names[at];
    const { signal } = new AbortController();
    if (database === undefined) return { resources: [] };
    const tables = await listTables({ databases, database, signal }).catch(none);
    const further = at + 1 < names.length ? { nextCursor: cursors.encode([at + 1, ""]) } : {};
    const rest = tables
      .filter(({ name }) => name > after)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const page = rest.slice(0, LISTED);
    const last = rest.length > LISTED ? page.at(-1) : undefined;
    const next = last === undefined ? further : { nextCursor: cursors.encode([at, last.name]) };
    return {
      resources: page.map(({ name, type }) => ({
        uri: `schema://${encodeURIComponent(database)}/${encodeURIComponent(name)}`,
        name: name.slice(0, 200),
        title: name.slice(0, 200),
        description: `Schema of a ${type === "virtual" ? "virtual table" : type}.`,
        mimeType: "application/json",
      })),
      ...next,
    };
  },
  complete,
});
