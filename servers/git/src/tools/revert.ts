import * as z from "zod";
import { integrated, mainline, onConflict, repoPath, tool } from "../context.ts";
import { revert } from "../repository/change/integrate.ts";

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
  }),
  output: integrated,
  run: ({ repo_path, on_conflict, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) =>
      revert(git, repository, { ...query, onConflict: on_conflict }, call.budget),
    ),
});
