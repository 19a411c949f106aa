import { reasonOf, statusEntry } from "@refmcp/sql";
import { never, resource } from "../context.ts";
import type { Postgres } from "../database/connection/postgres.ts";
import { describeTable, unquoted } from "../database/reading/describe.ts";
import { listObjects, NO_TABLES, namesBeginning, READABLE } from "../database/reading/objects.ts";

const tablesOf = async (postgres: Postgres, asked: Parameters<typeof listObjects>[1]) =>
  await listObjects(postgres.at(), asked, { signal: never });

/** Clients read up to 64 pages. */
const LISTED = 500;

export default resource({
  uriTemplate: "schema://{schema}/{table}",
  name: "table-schema",
  title: "Schema of a table",
  description: "Columns, keys, indexes and everything else about a table in the first database.",
  mimeType: "application/json",
  read: async ({ schema, table }, postgres, call) =>
    JSON.stringify(
      await describeTable(postgres.at(), table, schema, { signal: call.signal }),
      undefined,
      2,
    ),
  async list(postgres, cursor) {
    const asked = {
      list: "tables",
      kinds: READABLE,
      limit: LISTED,
      detail: "names" as const,
      cursor,
    };
    const found = await tablesOf(postgres, asked).catch(reasonOf);
    const reason =
      typeof found === "string" ? found : found.objects.length > 0 ? undefined : NO_TABLES;
    if (typeof found === "string" || (reason !== undefined && cursor === undefined))
      return { resources: [statusEntry(postgres.names[0] ?? "main", reason ?? NO_TABLES)] };
    const { objects, next_cursor: next } = found;
    return {
      resources: objects.map(({ schema, name, kind }) => ({
        uri: `schema://${encodeURIComponent(unquoted(schema))}/${encodeURIComponent(unquoted(name))}`,
        name: `${schema}.${name}`,
        title: `${schema}.${name}`,
        description: `Schema of the ${kind.replace("_", " ")} ${schema}.${name}.`,
        mimeType: "application/json",
      })),
      ...(next === undefined ? {} : { nextCursor: next }),
    };
  },
  complete: {
    schema: (value, postgres) => namesBeginning(postgres.at(), "schemas", value, { signal: never }),
    table: (value, postgres, { schema }) =>
      namesBeginning(postgres.at(), { schema }, value, { signal: never }),
  },
  watch: ({ schema, table }, postgres, changed) =>
    postgres.at().listener.watch(schema, table, changed),
});
