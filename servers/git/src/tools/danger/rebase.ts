import * as z from "zod";
import { repoPath, skipHooks, tool } from "../../context.ts";
import { destroyed } from "../../repository/change/confirm-loss.ts";
import { rebase } from "../../repository/change/destroy-commits.ts";

export default tool({
  name: "git_rebase",
  title: "Rebase",
  description:
    "Rebase the current branch onto another commit. Shows what moves, asks, and keeps a recovery ref.",
  effect: "destroy",
  openWorld: false,
  toolset: "danger",
  input: z.strictObject({
    repo_path: repoPath,
    onto: z.string().describe("Branch or commit to rebase onto."),
    skip_hooks: skipHooks,
  }),
  output: destroyed,
  run: ({ repo_path, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) => rebase(git, repository, query, call)),
});
