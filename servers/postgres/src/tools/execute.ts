import { ToolError } from "@refmcp/core/answer";
import { changeOutput, statementsInput } from "@refmcp/sql";
import * as z from "zod";
import { database, params, remarks, timeoutMs, tool } from "../context.ts";
import { withNearNames } from "../database/reading/near.ts";
import { shownWriting } from "../database/writing/shown-writing.ts";
import { write } from "../database/writing/writing.ts";

export default tool({
  name: "pg_execute",
  title: "Execute changes",
  description:
    "Run changing SQL: one statement, or several in one transaction, all or nothing. " +
    "What destroys data (DROP, TRUNCATE, DELETE or UPDATE of every row or of more than 1,000) is worked out first and asks " +
    "the user. dry_run runs everything, reports and takes it back. VACUUM and CONCURRENTLY run alone. For reading use query.",
  effect: "destroy",
  openWorld: false,
  toolset: "data",
  needs: "allowWrite",
  input: z.strictObject({
    statements: statementsInput("DELETE FROM a WHERE id = 1", params),
    dry_run: z.boolean().default(false).describe("Report and take everything back."),
    timeout_ms: timeoutMs,
    database,
  }),
  output: changeOutput,
  async run({ statements, dry_run, timeout_ms, database: name }, postgres, call) {
    const at = postgres.at(name).database;
    const { maxBytes, maxCellBytes } = postgres.limits;
    const work = { signal: call.signal, timeoutMs: timeout_ms };
    const each = statements.map((one) => (typeof one === "string" ? { sql: one, params: [] } : one));
    const written = await write(at, {
      ...work,
      statements: each,
      caps: { chars: maxBytes },
      dryRun: dry_run,
      confirm: (loss) => call.confirm(loss),
    }).catch(async (error: unknown) => {
      throw error instanceof ToolError
        ? await withNearNames(error, at, each.map(({ sql }) => sql).join(" "), work)
        : error;
    });
    return shownWriting(written, remarks(written.notices), call.budget, maxCellBytes);
  },
});
