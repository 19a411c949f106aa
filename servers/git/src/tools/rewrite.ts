import * as z from "zod";
import { skipHooks, changeTool as tool } from "../context.ts";
import { rewrite, rewritten } from "../git/change/rewrite.ts";

const step = z.strictObject({
  commit: z.string(),
  action: z.enum(["pick", "reword", "squash", "fixup", "drop"]),
  message: z.string().optional(),
});
const resolution = z.strictObject({
  commit: z.string(),
  path: z.string(),
  side: z.enum(["ours", "theirs"]).optional(),
  texts: z.array(z.string()).max(500).optional(),
});

export default tool({
  name: "git_rewrite",
  title: "Rewrite commits",
  description:
    "Reorder, reword, combine, drop or move commits. Previews commits, range-diff and conflicts; only apply moves the branch.",
  effect: "change",
  toolset: "extra",
  input: {
    branch_name: z.string().optional().describe("Default: the current one."),
    steps: z
      .array(step)
      .max(200)
      .default([])
      .describe("Every commit since the oldest, in new order, or only those to change."),
    onto: z.string().optional().describe("New base, for commits that it lacks."),
    resolutions: z
      .array(resolution)
      .max(200)
      .default([])
      .describe("Of conflicts: a side, or a text per hunk (no hunks: the file)."),
    apply: z.string().optional().describe("The previewed plan to apply."),
    skip_hooks: skipHooks,
  },
  output: rewritten,
  run: rewrite,
});
