import * as z from "zod";
import { database, tool } from "../context.ts";
import { CHECKS, checkHealth, report } from "../database/explain/health.ts";

export default tool({
  name: "pg_health",
  title: "Check health",
  description:
    "Check the health of the database: vacuum, bloat, wraparound, indexes, schema, locks, replication, security. " +
    "Names the role; a check that could not see everything is a note, not ok, and says what it missed.",
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
  output: report,
  async run({ checks, database: name }, postgres, { signal }) {
    const { sessions } = await postgres.at(name);
    return await checkHealth(sessions, checks, { signal });
  },
});
