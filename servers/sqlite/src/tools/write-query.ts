import { changeOutput } from "@refmcp/sql";
import * as z from "zod";
import { database, dryRun, params, statement, tool } from "../context.ts";
import { passWriting } from "../database/gate/gate.ts";
import { shownChange } from "../database/writing/shown-change.ts";
import { write } from "../database/writing/write.ts";

export default tool({
  name: "write_query",
  title: "Write query",
  description:
    "Run one INSERT, UPDATE, DELETE or REPLACE. With --allow-ddl also CREATE, ALTER and DROP. RETURNING gives rows back. What destroys data is counted and the user is asked first. For several changes that belong together call run_transaction.",
  effect: "destroy",
  openWorld: false,
  needs: "allowWrite",
  argumentAliases: { sql: "query" },
  input: z.strictObject({
    query: statement("UPDATE users SET name = ? WHERE id = ?"),
    params,
    database,
    dry_run: dryRun,
  }),
  output: changeOutput,
  async run({ query, params, database, dry_run }, databases, call) {
    const statement = passWriting(query, databases.options.allowDdl);
    const changes = [{ sql: query, params, statement }];
    return shownChange(
      changes,
      await write(databases, {
        changes,
        database,
        dryRun: dry_run,
        budget: call.budget,
        signal: call.signal,
        confirm: (loss) => call.confirm(loss),
      }),
    );
  },
});
