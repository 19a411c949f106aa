import { never, resource } from "../context.ts";
import { describeTable, unquoted } from "../database/reading/describe.ts";
import { listObjects, namesBeginning, READABLE } from "../database/reading/objects.ts";

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
    if (postgres.names.length === 0) return { resources: [] };
    const { objects, next_cursor: next } = await listObjects(postgres.at(), asked, {
      signal: never,
    });
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
});
