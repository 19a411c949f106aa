import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { addedWorktree, addWorktree } from "../../repository/change/new-repository.ts";

export default tool({
  name: "git_worktree_add",
  title: "Add a worktree",
  description: "Check out a branch into a new directory, as an additional working tree.",
  effect: "add",
  openWorld: false,
  toolset: "extra",
  input: z.strictObject({
    repo_path: repoPath,
    path: z.string().min(1).describe("New directory, inside an allowed one."),
    branch_name: z.string().min(1).max(250).describe("Branch to check out; created if missing."),
    revision: z.string().optional().describe("Starting point of a new branch. Default: HEAD."),
  }),
  output: addedWorktree,
  run: ({ repo_path, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) => addWorktree(git, repository, query)),
});
