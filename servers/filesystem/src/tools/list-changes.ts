import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { cursor, tool } from "../context.ts";
import { listChanges } from "../files/store/list.ts";

export default tool({
  name: "list_changes",
  title: "List changes",
  description: "List changes made through this server, newest first, for review or undo_change.",
  effect: "read",
  toolset: "journal",
  input: z.strictObject({
    path: z.string().optional().describe("Only changes at or below this path, for example src."),
    limit: fields.limit(20, 200),
    cursor,
  }),
  run: (range, files, call) => listChanges(files, { ...range, maxChars: call.budget }),
});
