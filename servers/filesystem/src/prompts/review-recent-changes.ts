import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { prompt } from "../context.ts";
import { summaryOf } from "../files/journal/list-changes.ts";

const LISTED = 30;

export default prompt({
  name: "review_recent_changes",
  title: "Review recent changes",
  description: "Review the changes made through this server, and undo the unwanted ones.",
  args: z.object({
    path: z.string().optional().describe("Only changes at or below this path."),
  }),
  async run({ path }, files) {
    const { changes, nextCursor } = await files.changes({ path, limit: LISTED, maxChars: 15_000 });
    const where = path === undefined ? "" : ` at or below ${oneLine(path)}`;
    if (changes.length === 0)
      return `Nothing was changed through the filesystem server${where}. Tell me so.`;
    const lines = changes.map(({ change, undoneBy }) => {
      const { first, more, final } = summaryOf(change);
      const to = first.destination === undefined ? "" : ` → ${oneLine(first.destination)}`;
      const others = more > 0 ? ` and ${more} more` : "";
      const state =
        undoneBy !== undefined ? ", undone" : final !== undefined ? ", cannot be undone" : "";
      return `- ${change.id} ${change.time} ${change.action} ${oneLine(first.path)}${to}${others}${state}`;
    });
    return [
      `Review these changes${where}, newest first${nextCursor === undefined ? "" : " (list_changes shows older ones)"}:`,
      ...lines,
      "",
      "For each file that is still changed, read its current content (read_text_file) and say in one sentence what was",
      "done and whether it looks right. Point out what was deleted, overwritten or moved. Then name the changes that",
      "you would undo with undo_change, and wait for my answer before you do.",
    ].join("\n");
  },
});
