import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { tool } from "../context.ts";
import { findLines } from "../notes/find.ts";

export default tool({
  name: "sample_find",
  title: "Find in notes",
  description:
    "Find lines of notes by the words in them, with the note and the number of the line. It looks into all notes, or into one.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    query: z.string().min(1).max(200).describe("Words as they are in the line; case does not matter."),
    path: z.string().optional().describe("One note only: absolute, or below an allowed directory."),
    limit: fields.limit(50, 500),
    cursor: fields.cursor,
  }),
  output: z.object({
    lines: z.array(z.object({ path: z.string(), line: z.number(), text: z.string() })),
    next_cursor: fields.nextCursor,
  }),
  run: ({ query, path, limit, cursor }, notes, call) =>
    findLines(notes, { query, path, limit, cursor, budget: call.budget, signal: call.signal }),
});
