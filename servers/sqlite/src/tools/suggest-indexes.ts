import { fitting } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import { suggestIndexesTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { suggestIndexes } from "../database/advice/advice.ts";

export default tool({
  ...suggestIndexesTool,
  name: "suggest_indexes",
  description:
    "Find indexes to create for a workload of SELECTs, and redundant ones to drop; changes nothing. Tried on a copy of the schema with real statistics; figures are estimated row reads of all statements.",
  input: z.strictObject({
    queries: z
      .array(z.string().max(100_000))
      .max(50)
      .default([])
      .describe("SELECT statements; parameters need no values."),
    limit: fields.limit(20, 100),
    database,
  }),
  output: z.object({
    suggestions: z.array(
      z.object({
        table: z.string(),
        create: z.string().optional(),
        drop: z.string().optional(),
        reason: z.string(),
        rows_read_before: z.number().optional(),
        rows_read_after: z.number().optional(),
        queries: z.array(z.string()).optional(),
      }),
    ),
  }),
  async run(input, databases, { signal, budget }) {
    const all = await suggestIndexes({ ...input, databases, signal });
    return { suggestions: all.slice(0, fitting(all, budget - 300)) };
  },
});
