import * as z from "zod";
import { remoteName, repoPath, tool } from "../../context.ts";
import { integrated } from "../../repository/change/integrate.ts";
import { pull } from "../../repository/remote/transfer.ts";

export default tool({
  name: "git_pull",
  title: "Pull",
  description: "Fetch a branch and fast-forward the current branch to it.",
  effect: "change",
  openWorld: true,
  toolset: "remote",
  input: z.strictObject({
    repo_path: repoPath,
    remote: remoteName,
    branch_name: z.string().min(1).max(250).optional().describe("Remote branch. Default: the same name."),
  }),
  output: integrated,
  run: ({ repo_path, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) => pull(git, repository, query, call)),
});
