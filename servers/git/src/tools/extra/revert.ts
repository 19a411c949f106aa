import * as z from "zod";
import { mainline, onConflict, repoPath, skipHooks, tool } from "../../context.ts";
import { integrated, replay } from "../../repository/change/integrate.ts";

export default tool({
  name: "git_revert",
  title: "Revert a commit",
  description: "Create a commit that undoes another one.",
  effect: "change",
  openWorld: false,
  toolset: "extra",
  input: z.strictObject({
    repo_path: repoPath,
    commit: z.string().describe("The commit to undo."),
    mainline,
    on_conflict: onConflict,
    skip_hooks: skipHooks,
  }),
  output: integrated,
  run: ({ repo_path, commit, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) =>
      replay(git, repository, "revert", [commit], query, call),
    ),
});
