import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { callerOf, count, relation, shownEntity, timeOf, tool } from "../context.ts";

export default tool({
  name: "search_nodes",
  title: "Search nodes",
  description:
    "Search entities by words in their names, types and observations, best match first. Not every word has to match, so add synonyms: physician doctor GP. Word forms, case, accents and typos are allowed for. Long entities are shortened; open_nodes shows everything.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    query: z
      .string()
      .max(2_000)
      .describe("A question or words, for example: ada tea. Empty: the newest entities."),
    types: z.array(z.string()).min(1).max(20).optional().describe("Only entities of these types."),
    since: z.string().optional().describe("Only what changed since: ISO 8601 date or time."),
    until: z.string().optional().describe("Only what changed until: ISO 8601 date or time."),
    limit: fields.limit(20, 100),
    cursor: fields.cursor,
  }),
  output: z.object({
    entities: z.array(shownEntity),
    relations: z.array(relation),
    total: count,
    total_is_minimum: z.boolean().optional(),
    matched: z.string().optional(),
    note: z.string().optional(),
    next_cursor: z.string().optional(),
  }),
  run: ({ types, cursor, since, until, ...search }, memory, call) =>
    memory.run(
      "searchNodes",
      [
        {
          ...search,
          types,
          cursor,
          since: timeOf(since, "since"),
          until: timeOf(until, "until"),
          budget: call.budget,
        },
      ],
      callerOf(call),
    ),
});
