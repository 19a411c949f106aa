import { sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import { moves, tool } from "../context.ts";
import { confirmLoss, planAnswer } from "../files/change/answer.ts";
import { planMoves } from "../files/change/plan.ts";
import { run } from "../files/change/run.ts";

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
    const { signal } = call;
    const plan = await planMoves(files, { ...input, action: "copy", signal });
    if (input.dryRun) return planAnswer(plan);
    const { replaced } = plan;
    const what = ` (${sized(replaced.bytes)})`;
    await confirmLoss(files, call, { ...replaced, verb: "Replace", what });
    const progress = (done: number, total: number) => call.progress(done, total);
    return planAnswer(plan, await run(files, plan.subject, plan.steps, { progress, signal }));
  },
});
