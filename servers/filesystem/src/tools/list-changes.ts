import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { tool } from "../context.ts";
import { changesAnswer } from "../files/journal/list-changes.ts";

export default tool({
  name: "list_changes",
  title: "List changes",
  description:
    "List changes made through this server, newest first, to review them or undo them with undo_change.",
  effect: "read",
  view: "diff",
  toolset: "journal",
  input: z.strictObject({
    path: z.string().optional().describe("Only changes at or below this path."),
    diff: z.boolean().default(false).describe("Include the diffs of text files."),
    limit: fields.limit(20, 200),
    cursor: fields.cursor,
  }),
  async run({ diff, ...range }, files, call) {
    const page = await files.changes({ ...range, maxChars: call.budget });
    return changesAnswer(page, call.budget, (change, maxChars) =>
      diff ? files.changeDiff(change, maxChars, call.signal) : Promise.resolve(undefined),
    );
  },
});
