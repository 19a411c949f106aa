import * as z from "zod";
import { tool } from "../context.ts";
import { patchAnswer } from "../files/edit/edit-answer.ts";

export default tool({
  name: "apply_patch",
  title: "Apply patch",
  description:
    "Apply a unified diff, as written by git diff, to any number of text files. Changes nothing unless all of it applies.",
  effect: "change",
  view: "diff",
  toolset: "write",
  input: z.strictObject({
    patch: z.string().max(2_000_000).describe("The diff, with --- and +++ lines."),
    path: z.string().default(".").describe("Directory its paths are relative to, for example src."),
    dryRun: z.boolean().default(false).describe("Only check whether it applies."),
  }),
  async run(input, files, call) {
    return patchAnswer(await files.applyPatch({ ...input, signal: call.signal }), input.dryRun);
  },
});
