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
    "Find foreign keys without an index, and redundant indexes to drop; changes nothing. For a slow statement call explain.",
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
  async run(input, databases, { signal, budget }) {
    const all = await suggestIndexes({ ...input, databases, signal });
    return { suggestions: all.slice(0, fitting(all, budget - 300)) };
  },
});
