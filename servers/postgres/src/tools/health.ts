import * as z from "zod";
import { database, tool } from "../context.ts";
import { CHECKS, checkHealth, finding } from "../database/advice/health.ts";

export default tool({
  name: "pg_health",
  title: "Check health",
  description:
    "Check the health of the database: vacuum, bloat, wraparound, indexes, schema, locks, replication, security. " +
    "Checks are independent; one that this role may not run becomes a note.",
  effect: "read",
  openWorld: false,
  toolset: "dba",
  input: z.strictObject({
    checks: z
      .array(z.enum(CHECKS))
      .min(1)
      .max(CHECKS.length)
      .default([...CHECKS])
      .describe("Checks to run; default: all."),
    database,
  }),
  output: z.object({ findings: z.array(finding) }),
  run: async ({ checks, database: name }, postgres, { signal }) => ({
    findings: await checkHealth(postgres.at(name), checks, { signal }),
  }),
});
