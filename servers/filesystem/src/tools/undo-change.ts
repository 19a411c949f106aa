import * as z from "zod";
import { tool } from "../context.ts";
import { changeAnswer } from "../files/change/answer.ts";
import { undo } from "../files/change/undo.ts";

export default tool({
  name: "undo_change",
  title: "Undo change",
  description:
    "Restore the files of a change made through this server, unless one of them has changed since. An undo can be undone too.",
  effect: "change",
  toolset: "journal",
  input: z.strictObject({
    id: z.string().describe("Id of the change, from its response or list_changes."),
    skip_changed: z
      .boolean()
      .default(false)
      .describe("Of many files, undo those that are unchanged since."),
  }),
  async run({ id, skip_changed: skipChanged }, files, call) {
    const progress = (done: number, total: number) => call.progress(done, total);
    const { change, done, receipt } = await undo(files, id, {
      skipChanged,
      progress,
      signal: call.signal,
    });
    return changeAnswer(`Undid ${change.id}: ${done}`, receipt);
  },
});
