import * as z from "zod";
import { integrated, onConflict, repoPath, tool } from "../context.ts";
import { merge } from "../repository/change/integrate.ts";

export default tool({
  name: "git_merge",
  title: "Merge",
  description: "Merge a branch or commit into the current branch. Conflicts are abandoned unless asked for.",
  effect: "change",
  openWorld: false,
  toolset: "write",
  input: z.strictObject({
    repo_path: repoPath,
    revision: z.string().describe("Branch or commit to merge."),
    message: z.string().min(1).max(50_000).optional().describe("Message of the merge commit."),
    fast_forward: z
      .enum(["allow", "only", "never"])
      .default("allow")
      .describe("Whether moving the branch is enough."),
    on_conflict: onConflict,
  }),
  output: integrated,
  run: ({ repo_path, fast_forward, on_conflict, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) => {
      const how = { fastForward: fast_forward, onConflict: on_conflict };
      const confirm = (question: string) => call.confirm(question);
      return merge(git, repository, { ...query, ...how }, confirm, call.budget);
    }),
});
