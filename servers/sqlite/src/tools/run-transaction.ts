import * as z from "zod";
import { changed, database, dryRun, params, sql, tool } from "../context.ts";
import { passWriting } from "../database/gate/gate.ts";
import { shownChange } from "../database/writing/shown-change.ts";
import { write } from "../database/writing/write.ts";

export default tool({
  name: "run_transaction",
  title: "Run transaction",
  description:
    "Run several changing statements in one transaction: all of them or none. Each is as in write_query; what destroys data is counted and the user is asked once.",
  effect: "destroy",
  openWorld: false,
  needs: "allowWrite",
  input: z.strictObject({
    statements: z
      .array(z.strictObject({ query: sql("INSERT INTO users VALUES (?, ?)"), params }))
      .min(1)
      .max(500)
      .describe("The statements in order."),
    database,
    dry_run: dryRun,
  }),
  output: changed,
  async run({ statements, database, dry_run }, databases, call) {
    const { allowDdl } = databases.options;
    const changes = statements.map(({ query, params }) => ({
      sql: query,
      params,
      statement: passWriting(query, allowDdl),
    }));
    return shownChange(
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
