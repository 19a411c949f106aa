import { fitting } from "@refmcp/boundary/answer";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { rehearsed } from "../database/copy/rehearse.ts";

export default tool({
  name: "pg_rehearse",
  title: "Rehearse a migration",
  description:
    "Run a migration on a local copy of the schema, to see its locks, rewrites, scans and schema changes. " +
    "Warns about risky statements and names safer ones. The database is not changed, and no rows are copied, so what depends on rows is not tested. pg_execute runs it for real.",
  effect: "read",
  openWorld: false,
  toolset: "dba",
  input: z.strictObject({
    statements: z
      .array(z.string().min(1))
      .min(1)
      .max(100)
      .describe("SQL of the migration, as pg_execute would get it; or whole files."),
    database,
  }),
  output: z.object({
    /** Whether every statement ran. */
    ok: z.boolean(),
    statements: z.array(
      z.object({
        sql: z.string(),
        /** Stronger than those of earlier statements, and held until the end of the transaction. */
        locks: z.array(z.string()).optional(),
        work: z.array(z.string()).optional(),
        warnings: z.array(z.object({ problem: z.string(), safer: z.string() })).optional(),
        skipped: z.string().optional(),
        error: z.string().optional(),
      }),
    ),
    /** + added, - removed, ~ changed. */
    changes: z.array(z.string()),
    omitted: z.number().optional(),
    notes: z.array(z.string()).optional(),
  }),
  async run({ statements, database: name }, postgres, call) {
    const { changes, ...answer } = await rehearsed(postgres, name, statements, {
      signal: call.signal,
    });
    const shown = answer.statements.slice(0, fitting(answer.statements, call.budget - 3_000));
    const left = call.budget - 1_500 - JSON.stringify(shown).length;
    const differences = changes.slice(0, fitting(changes, left));
    const omitted = answer.statements.length - shown.length + changes.length - differences.length;
    return {
      ...answer,
      statements: shown,
      changes: differences,
      ...(omitted === 0 ? {} : { omitted }),
    };
  },
});
