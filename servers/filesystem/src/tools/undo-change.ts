import * as z from "zod";
import { journaled, journalFacts, tool } from "../context.ts";

export default tool({
  name: "undo_change",
  title: "Undo change",
  description:
    "Take back a change made through this server, unless the file has changed since. " +
    "The undo is a change too: undoing it does the first one again.",
  effect: "change",
  openWorld: false,
  input: z.strictObject({ id: z.string().describe("change_id of the answer, or id of list_changes.") }),
  output: z.object({
    undone: z.string(),
    result: z.string(),
    ...journaled,
  }),
  async run({ id }, files, call) {
    const { change, done, receipt } = await files.undo(id, call.signal);
    return { undone: change.id, result: done, ...journalFacts(receipt) };
  },
});
