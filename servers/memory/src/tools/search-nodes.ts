import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { count, entity, relation, timeOf, tool } from "../context.ts";
import { searchNodes } from "../graph/search/search.ts";

export default tool({
  name: "search_nodes",
  title: "Search nodes",
  description:
    "Search names, types and observations, best match first. Not every word has to match: add synonyms and words of the memory's language. learned gives days; the one of the whole answer is for entities without their own. open_nodes returns an entity in full.",
  toolset: "memory",
  effect: "read",
  view: "graph",
  input: z.strictObject({
    query: z
      .string()
      .max(2_000)
      .describe(
        "A question or words (physician doctor GP); word forms, accents and typos match. Empty: the newest.",
      ),
    types: z
      .array(z.string())
      .min(1)
      .max(20)
      .optional()
      .describe("Only these types, for example person."),
    since: z.string().optional().describe("Changed since this ISO 8601 date or time."),
    until: z.string().optional().describe("Changed until this date or time."),
    limit: fields.limit(20, 100),
    cursor: fields.cursor,
  }),
  output: z.object({
    entities: z.array(entity),
    relations: z.array(relation),
    total: count.optional(),
    next_cursor: z.string().optional(),
  }),
  run({ since, until, ...search }, memory, call) {
    const times = { since: timeOf(since, "since"), until: timeOf(until, "until") };
    return searchNodes(memory.of(call), { ...search, ...times, budget: call.budget });
  },
});
