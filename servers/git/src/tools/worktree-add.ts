import * as z from "zod";
import { option, changeTool as tool } from "../context.ts";
import { addedWorktree, addWorktree } from "../git/change/new-repository.ts";

export default tool({
  name: "git_worktree_add",
  title: "Add a worktree",
  description: "Check out a branch into a new directory, as an additional working tree.",
  effect: "add",
  toolset: "extra",
  input: {
    path: z.string().min(1).describe("New directory, inside an allowed one."),
    branch_name: z.string().min(1).max(250).describe("Branch to check out; created if missing."),
    revision: option("Starting point of a new branch. Default: HEAD."),
  },
  output: addedWorktree,
  run: addWorktree,
});
