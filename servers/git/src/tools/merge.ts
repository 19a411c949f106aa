import { ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { onConflict, skipHooks, changeTool as tool } from "../context.ts";
import { endOperation, integrated, merge } from "../git/change/integrate.ts";

export default tool({
  name: "git_merge",
  title: "Merge",
  description: "Merge a branch or commit, only into the current branch.",
  effect: "change",
  toolset: "write",
  input: {
    revision: z.string().optional().describe("Branch or commit, e.g. origin/main."),
    action: z
      .enum(["merge", "continue", "skip", "abort"])
      .default("merge")
      .describe("continue, skip or abort: the operation in progress."),
    message: z.string().min(1).max(50_000).optional().describe("Commit message."),
    fast_forward: z
      .enum(["allow", "only", "never"])
      .default("allow")
      .describe("only: else fail; never: always a merge commit."),
    on_conflict: onConflict,
    squash: z.boolean().default(false).describe("Stage only; don't commit."),
    skip_hooks: skipHooks,
  },
  output: integrated,
  run(repository, { revision, action, ...query }, call) {
    if (action !== "merge") return endOperation(repository, action, query, call);
    if (revision !== undefined) return merge(repository, { ...query, revision }, call);
    throw new ToolError("invalid", "revision is missing.", {
      code: "bad_revision",
      hint: "Pass the branch or commit to merge; without one, action: continue, skip or abort.",
    });
  },
});
