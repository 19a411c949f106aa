import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { destroyed } from "../../repository/change/confirm-loss.ts";
import { deleteBranch } from "../../repository/change/destroy-commits.ts";

export default tool({
  name: "git_delete_branch",
  title: "Delete a branch",
  description: "Delete a local branch, merged or not. Shows what is lost, asks, and keeps a recovery ref.",
  effect: "destroy",
  openWorld: false,
  toolset: "danger",
  input: z.strictObject({
    repo_path: repoPath,
    branch_name: z.string().min(1).max(250).describe("The branch to delete."),
  }),
  output: destroyed,
  run: ({ repo_path, branch_name }, git, call) =>
    git.change(repo_path, call.signal, (repository) => deleteBranch(repository, branch_name, call)),
});
