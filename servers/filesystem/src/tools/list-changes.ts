import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { cursor, tool } from "../context.ts";
import { changesAnswer, listChanges } from "../files/change/list.ts";
import { diffOfChange } from "../files/edit/compare.ts";

export default tool({
  name: "list_changes",
  title: "List changes",
  description: "List changes made through this server, newest first, for review or undo_change.",
  effect: "read",
  view: "diff",
  toolset: "journal",
  input: z.strictObject({
    path: z.string().optional().describe("Only changes at or below this path, for example src."),
    diff: z.boolean().default(false).describe("Include the diffs of text files."),
    limit: fields.limit(20, 200),
    cursor,
  }),
  async run({ diff, ...range }, files, call) {
    const page = await listChanges(files, { ...range, maxChars: call.budget });
    return changesAnswer(page, call.budget, (change, maxChars) =>
      diff ? diffOfChange(files, change, maxChars, call.signal) : Promise.resolve(undefined),
    );
  },
});
