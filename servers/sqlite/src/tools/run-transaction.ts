import { changeOutput, statementsInput } from "@refmcp/sql";
import * as z from "zod";
import { database, dryRun, params, tool } from "../context.ts";
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
    statements: statementsInput("DELETE FROM a WHERE id = 1", params),
    database,
    dry_run: dryRun,
  }),
  output: changeOutput,
  async run({ statements, database, dry_run }, databases, call) {
    const { allowDdl } = databases.options;
    const changes = statements.map((one) => {
      const { sql, params } = typeof one === "string" ? { sql: one, params: [] } : one;
      return { sql, params, statement: passWriting(sql, allowDdl) };
    });
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
