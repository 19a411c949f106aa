import { never, resource } from "../context.ts";
import { namesBeginning } from "../database/reading/objects.ts";
import { keysBeginning, readRow } from "../database/reading/row.ts";

export default resource({
  uriTemplate: "rows://{schema}/{table}/{key}",
  name: "row",
  title: "A row of a table",
  description:
    'One row by its primary key, as returned by query. The key of several columns is a JSON array, percent-encoded: [1,"a"].',
  mimeType: "application/json",
  read: (asked, postgres, call) => readRow(postgres, asked, call),
  complete: {
    schema: (value, postgres) => namesBeginning(postgres.at(), "schemas", value, { signal: never }),
    table: (value, postgres, { schema }) =>
      namesBeginning(postgres.at(), { schema }, value, { signal: never }),
    key: (value, postgres, { schema, table }) =>
      schema === undefined || table === undefined
        ? []
        : keysBeginning(postgres, { schema, table }, value, { signal: never }),
  },
});
