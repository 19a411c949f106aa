import { changeOutput } from "@refmcp/sql";
import * as z from "zod";
import { database, statement, tool } from "../context.ts";
import { passCreateTable } from "../database/gate/gate.ts";
import { shownChange } from "../database/writing/shown-change.ts";
import { write } from "../database/writing/write.ts";

export default tool({
  name: "create_table",
  title: "Create table",
  description: "Run one CREATE TABLE. Other changes of the schema go through write_query.",
  effect: "add",
  openWorld: false,
  needs: "allowDdl",
  argumentAliases: { sql: "query" },
  input: z.strictObject({
    query: statement("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)"),
    database,
  }),
  output: changeOutput,
  async run({ query, database }, databases, call) {
    const changes = [{ sql: query, params: [], statement: passCreateTable(query) }];
    const { signal, budget } = call;
    const confirm = (loss: string) => call.confirm(loss);
    const given = { changes, database, make: true, dryRun: false, budget, signal, confirm };
    return shownChange(changes, await write(databases, given));
  },
});
