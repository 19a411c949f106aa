import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { tool } from "../context.ts";

export default tool({
  name: "sample_find",
  title: "Find notes",
  description:
    "Find notes by the words in them, in all files or in one. A note is a line of a Markdown file.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    query: z
      .string()
      .min(1)
      .max(200)
      .describe("Words to find, in this order; case does not matter."),
    path: z
      .string()
      .max(4_096)
      .optional()
      .describe("One file only: absolute, or below an allowed directory."),
    limit: fields.limit(50, 500),
    cursor: fields.cursor,
  }),
  output: z.object({
    notes: z.array(z.object({ id: z.string(), text: z.string() })),
    next_cursor: fields.nextCursor,
  }),
  run: (request, source, { budget, signal }) => source.find({ ...request, budget, signal }),
});
