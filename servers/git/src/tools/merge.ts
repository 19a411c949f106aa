import { action, choice, onConflict, option, skipHooks, changeTool as tool } from "../context.ts";
import { integrated } from "../git/integrate/end-operation.ts";
import { merge } from "../git/integrate/integrate.ts";

export default tool({
  name: "git_merge",
  title: "Merge",
  description: "Merge a branch or commit into the current branch.",
  effect: "change",
  toolset: "write",
  input: {
    revision: option("Branch or commit, e.g. origin/main."),
    message: option("Message of the merge commit."),
    fast_forward: choice(["allow", "only", "never"], "only: or fail; never: always merge."),
    on_conflict: onConflict,
    action,
    skip_hooks: skipHooks,
  },
  output: integrated,
  run: merge,
});
