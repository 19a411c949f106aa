import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { renameBranch } from "../../repository/change/switch.ts";

export default tool({
  name: "git_rename_branch",
  title: "Rename a branch",
  description: "Rename a local branch, with its upstream and reflog. The remote branch keeps its name.",
  effect: "change",
  openWorld: false,
  toolset: "extra",
  input: z.strictObject({
    repo_path: repoPath,
    branch_name: z.string().min(1).max(250).describe("The branch to rename."),
    new_name: z.string().min(1).max(250).describe("Its new name."),
  }),
  output: z.object({ branch: z.string(), before: z.string(), commit: z.string() }),
  run: ({ repo_path, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) => renameBranch(repository, query)),
});
