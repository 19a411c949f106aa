import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { suggestIndexes } from "../database/advice/workload.ts";

export default tool({
  name: "pg_suggest_indexes",
  title: "Suggest indexes",
  description:
    "Suggest indexes to make or to drop, by foreign keys, overlaps and table scans; nothing is changed. " +
    "pg_explain with indexes tells whether one would be used.",
  effect: "read",
  openWorld: false,
  toolset: "dba",
  input: z.strictObject({ limit: fields.limit(20, 100), database }),
  output: z.object({
    suggestions: z.array(
      z.object({
        table: z.string(),
        create: z.string().optional(),
        drop: z.string().optional(),
        reason: z.string(),
      }),
    ),
  }),
  run: async ({ limit, database: name }, postgres, call) => ({
    suggestions: await suggestIndexes(postgres.at(name).database, limit, { signal: call.signal }),
  }),
});
