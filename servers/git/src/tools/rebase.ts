import * as z from "zod";
import { action, onConflict, option, skipHooks, changeTool as tool } from "../context.ts";
import { rebase, rebased } from "../git/integrate/rebase.ts";

const step = z.strictObject({
  commit: z.string(),
  action: z.enum(["pick", "reword", "squash", "fixup", "drop"]),
  message: z.string().optional(),
});

export default tool({
  name: "git_rebase",
  title: "Rebase",
  description:
    "Move, reorder, reword, combine or drop commits of a branch. Shows the new commits first; a second call with apply moves the branch to them.",
  effect: "change",
  toolset: "extra",
  input: {
    branch_name: option("Default: the current branch."),
    onto: option("Put the commits that this branch or commit lacks on it."),
    steps: z.array(step).max(200).default([]).describe("One for each commit, in the new order."),
    apply: option("The plan of a previous call."),
    on_conflict: onConflict.describe(
      "abort only shows conflicts; keep stops at them in the files.",
    ),
    action,
    skip_hooks: skipHooks,
  },
  output: rebased,
  run: rebase,
});
