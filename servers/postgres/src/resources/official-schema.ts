import { never, resource } from "../context.ts";
import { describeTable, unquoted } from "../database/reading/describe.ts";
import { namesBeginning } from "../database/reading/objects.ts";

export default resource({
  uriTemplate: "postgres://{server}/{table}/schema",
  name: "official-schema",
  title: "Columns of a table, as in the official server",
  description:
    "Names and types of a table's columns, under the URI of the official server: postgres://user@host:port/table/schema.",
  mimeType: "application/json",
  async read({ table }, postgres, call) {
    const { columns } = await describeTable(postgres.at(), table, undefined, {
      signal: call.signal,
    });
    return JSON.stringify(
      columns.map(({ name, type }) => ({ column_name: unquoted(name), data_type: type })),
      undefined,
      2,
    );
  },
  complete: {
    table: (value, postgres) =>
      namesBeginning(postgres.at(), { schema: undefined }, value, { signal: never }),
  },
});
