import * as z from "zod";
import { skipHooks, changeTool as tool } from "../../context.ts";
import { rewrite, rewritten } from "../../repository/change/rewrite.ts";

const step = z.strictObject({
  commit: z.string().describe("Commit of the branch."),
  action: z.enum(["pick", "reword", "squash", "fixup", "drop"]),
  message: z.string().max(50_000).optional().describe("New message."),
});
const resolution = z.strictObject({
  commit: z.string().describe("The commit that conflicts."),
  path: z.string(),
  side: z.enum(["ours", "theirs"]).optional(),
  hunks: z.array(z.string()).max(500).optional().describe("A text for each conflict."),
  content: z.string().optional().describe("The whole file."),
});

export default tool({
  name: "git_rewrite",
  title: "Rewrite commits",
  description:
    "Reorder, reword, combine, drop or move commits of a branch. Without apply, only previews: new commits, range-diff, conflicts and a plan; nothing moves. Keeps a recovery ref.",
  effect: "change",
  toolset: "extra",
  input: {
    branch_name: z.string().optional().describe("Default: the current branch."),
    steps: z
      .array(step)
      .max(200)
      .default([])
      .describe(
        "Others stay as they are; to reorder, list all since the oldest. fixup and squash follow the commit they join.",
      ),
    onto: z.string().optional().describe("Move the commits that it lacks onto this one."),
    resolutions: z.array(resolution).max(200).default([]).describe("Solve the conflicts of a preview."),
    apply: z.string().optional().describe("The plan of a preview: do exactly that."),
    skip_hooks: skipHooks,
  },
  output: rewritten,
  run: rewrite,
});
