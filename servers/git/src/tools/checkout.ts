import * as z from "zod";
import { flag, option, changeTool as tool } from "../context.ts";
import { checkout, switched } from "../git/change/branches.ts";

export default tool({
  name: "git_checkout",
  title: "Switch branches",
  description:
    "Check out a branch, a new one, a remote's, or a commit. To restore files, use git_restore.",
  effect: "change",
  toolset: "write",
  input: {
    branch_name: z.string().describe("Branch, tag or commit."),
    create: flag("Create it."),
    base_branch: option("Where a new one starts. Default: HEAD."),
  },
  output: switched,
  run: checkout,
});
