import * as z from "zod";
import { action, onConflict, skipHooks, changeTool as tool } from "../context.ts";
import { endOperation } from "../git/integrate/end-operation.ts";
import { integrated, merge } from "../git/integrate/integrate.ts";

export default tool({
  name: "git_merge",
  title: "Merge",
  description: "Merge a branch or commit into the current branch.",
  effect: "change",
  toolset: "write",
  input: {
    revision: z.string().optional().describe("Branch or commit, e.g. origin/main."),
    message: z.string().min(1).max(50_000).optional().describe("Message of the merge commit."),
    fast_forward: z
      .enum(["allow", "only", "never"])
      .default("allow")
      .describe("only: else refuse; never: always a merge commit."),
    on_conflict: onConflict,
    squash: z.boolean().default(false).describe("Only stage the changes."),
    action,
    skip_hooks: skipHooks,
  },
  output: integrated,
  run: (repository, { action: end, ...query }, call) =>
    end === "start"
      ? merge(repository, query, call)
      : endOperation(repository, "merge", end, query, call),
});
