import { sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import { moves, tool } from "../context.ts";
import { planAnswer } from "../files/change/plan-answer.ts";
import { changeAnswer } from "../files/journal/list-changes.ts";
import { named } from "../files/messages.ts";

export default tool({
  name: "move_file",
  title: "Move or rename",
  description:
    "Move or rename a file, directory or symlink (not its target), or many in one call: moves, or a pattern as source. " +
    "Checks everything first, creates missing parents; undo_change undoes the whole call.",
  effect: "change",
  toolset: "write",
  input: z.strictObject(moves),
  async run(input, files, call) {
    const planned = await files.plan({ ...input, action: "move", signal: call.signal });
    if (input.dryRun) return planAnswer(planned);
    const question = await files.planQuestion(planned);
    if (question !== undefined) await call.confirm(question);
    const progress = (done: number, total: number) => call.progress(done, total);
    const [only, other] = planned.pairs;
    if (only !== undefined && other === undefined && planned.parents.length === 0) {
      const request = {
        source: only.from,
        destination: only.to,
        overwrite: input.overwrite,
        signal: call.signal,
      };
      const { path, destination, replaced, receipt } = await files.move(request);
      const bytes = replaced === undefined ? "" : `, replacing ${sized(replaced)}`;
      return changeAnswer(`Moved ${named(path)} to ${named(destination)}${bytes}.`, receipt);
    }
    return planAnswer(planned, await files.runPlan(planned, { progress, signal: call.signal }));
  },
});
