import * as z from "zod";
import { changeTool as tool } from "../context.ts";
import { renameBranch } from "../git/change/branches.ts";

export default tool({
  name: "git_rename_branch",
  title: "Rename a branch",
  description:
    "Rename a local branch, with its upstream and reflog. The remote branch keeps its name.",
  effect: "change",
  toolset: "extra",
  input: {
    branch_name: z.string().min(1).max(250).describe("The branch to rename."),
    new_name: z.string().min(1).max(250).describe("Its new name."),
  },
  output: z.object({ branch: z.string(), before: z.string(), commit: z.string() }),
  run: renameBranch,
});
