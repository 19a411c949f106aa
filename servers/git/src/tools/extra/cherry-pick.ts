import * as z from "zod";
import { mainline, onConflict, repoPath, skipHooks, tool } from "../../context.ts";
import { integrated, replay } from "../../repository/change/integrate.ts";

export default tool({
  name: "git_cherry_pick",
  title: "Cherry-pick",
  description: "Copy commits onto the current branch, in the given order.",
  effect: "change",
  openWorld: false,
  toolset: "extra",
  input: z.strictObject({
    repo_path: repoPath,
    commits: z.array(z.string()).min(1).max(50).describe("Commits to copy, oldest first."),
    mainline,
    on_conflict: onConflict,
    skip_hooks: skipHooks,
  }),
  output: integrated,
  run: ({ repo_path, commits, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) =>
      replay(git, repository, "cherry-pick", commits, query, call),
    ),
});
