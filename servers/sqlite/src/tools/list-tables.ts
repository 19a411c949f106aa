import { cursorsOf } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import { pageOf } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { listTables } from "../database/reading/catalog.ts";
import { written } from "../database/reading/names.ts";

export default tool({
  name: "list_tables",
  title: "List tables",
  description:
    "List the tables and views of a database. For one table's columns call describe_table.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({ database, limit: fields.limit(500, 5_000), cursor: fields.cursor }),
  output: z.object({
    tables: z.array(z.object({ name: z.string(), type: z.string() })),
    next_cursor: fields.nextCursor,
  }),
  async run({ database, limit, cursor }, databases, { signal, budget }) {
    const cursors = cursorsOf("list_tables", database, z.string());
    const after = cursors.decode(cursor);
    const tables = await listTables({ databases, database, signal });
    const rest = tables.filter(({ name }) => after === undefined || name > after);
    const shown = rest.map(({ name, type }) => ({ name: written(name), type }));
    const { page, ...next } = pageOf(shown, { limit, budget: budget - 300 }, (last) =>
      cursors.encode(rest[last]?.name ?? ""),
    );
    return { tables: page, ...next };
  },
});
