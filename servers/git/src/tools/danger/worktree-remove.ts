import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { destroyed } from "../../repository/change/confirm-loss.ts";
import { removeWorktree } from "../../repository/change/destroy-files.ts";

export default tool({
  name: "git_worktree_remove",
  title: "Remove a worktree",
  description:
    "Remove a linked worktree; its branch is kept. Shows the loss, asks, and keeps a recovery ref.",
  effect: "destroy",
  openWorld: false,
  toolset: "danger",
  input: z.strictObject({
    repo_path: repoPath,
    path: z.string().min(1).describe("The worktree's directory."),
  }),
  output: destroyed,
  run: ({ repo_path, path }, git, call) =>
    git.change(repo_path, call.signal, (repository) => removeWorktree(git, repository, path, call)),
});
