import * as z from "zod";
import { skipHooks, changeTool as tool } from "../../context.ts";
import { applyPatch, patched } from "../../repository/change/apply-patch.ts";

export default tool({
  name: "git_apply_patch",
  title: "Apply a patch",
  description:
    "Apply a diff, or the commits of a mailbox (git_show with format mail). Applies everything or nothing.",
  effect: "change",
  toolset: "extra",
  input: {
    patch: z
      .string()
      .min(1)
      .max(10_000_000)
      .describe("A unified diff, or mails of git format-patch."),
    as: z
      .enum(["worktree", "index", "commits"])
      .default("worktree")
      .describe("index: staged; commits: with the mails' authors, dates and messages."),
    on_conflict: z
      .enum(["abort", "keep"])
      .default("abort")
      .describe("abort: change nothing; keep: leave conflicts in the files."),
    reverse: z.boolean().default(false).describe("Undo the patch instead."),
    dry_run: z.boolean().default(false).describe("Only check whether it applies."),
    skip_hooks: skipHooks,
  },
  output: patched,
  run: applyPatch,
});
