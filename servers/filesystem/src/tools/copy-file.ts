import { sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import { moves, tool } from "../context.ts";
import { describe } from "../files/change/entries.ts";
import { planAnswer } from "../files/change/plan-answer.ts";
import { changeAnswer } from "../files/journal/list-changes.ts";
import { named } from "../files/messages.ts";

const MAX_SKIPPED = 50;

export default tool({
  name: "copy_file",
  title: "Copy",
  description:
    "Copy a file or a directory with its contents, or many in one call: moves, or a pattern as source. " +
    "Checks everything first and creates missing parents.",
  effect: "change",
  toolset: "write",
  input: z.strictObject(moves),
  async run(input, files, call) {
    const planned = await files.plan({ ...input, action: "copy", signal: call.signal });
    if (input.dryRun) return planAnswer(planned);
    const question = await files.planQuestion(planned);
    if (question !== undefined) await call.confirm(question);
    const options = {
      progress: (done: number, total: number) => call.progress(done, total),
      signal: call.signal,
    };
    const [only] = planned.pairs;
    if (only === undefined || planned.pairs.length > 1 || planned.parents.length > 0)
      return planAnswer(planned, await files.runPlan(planned, options));
    const copied = await files.copy({
      source: only.from,
      destination: only.to,
      overwrite: input.overwrite,
      ...options,
    });
    const { skipped, replaced, receipt } = copied;
    const done = `Copied ${named(copied.path)} to ${named(copied.destination)}: ${describe({ ...copied, others: 0 })}`;
    const bytes = replaced === undefined ? "" : `, replacing ${sized(replaced)}`;
    const more = skipped.length - MAX_SKIPPED;
    const left =
      skipped.slice(0, MAX_SKIPPED).map(named).join(", ") + (more > 0 ? ` and ${more} more` : "");
    const note =
      skipped.length === 0
        ? ""
        : ` Skipped, because they lead outside or are not regular files: ${left}.`;
    return changeAnswer(`${done}${bytes}.${note}`, receipt);
  },
});
