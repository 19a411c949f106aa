import * as z from "zod";
import { tool } from "../context.ts";
import { changeAnswer } from "../files/journal/list-changes.ts";

export default tool({
  name: "undo_change",
  title: "Undo change",
  description:
    "Undo a change made through this server, unless the file has changed since. " +
    "An undo can be undone in the same way.",
  effect: "change",
  toolset: "journal",
  input: z.strictObject({ id: z.string().describe("Id of the change, from its response or list_changes.") }),
  async run({ id }, files, call) {
    const { change, done, receipt } = await files.undo(id, call.signal);
    return changeAnswer(`Undid ${change.id}: ${done}`, receipt);
  },
});
