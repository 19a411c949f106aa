import { action, mainline, onConflict, option, skipHooks, changeTool as tool } from "../context.ts";
import { integrated } from "../git/integrate/end-operation.ts";
import { replay } from "../git/integrate/integrate.ts";

export default tool({
  name: "git_revert",
  title: "Revert a commit",
  description: "Create a commit that undoes another one.",
  effect: "change",
  toolset: "extra",
  input: {
    commit: option("The commit to undo."),
    mainline,
    on_conflict: onConflict,
    action,
    skip_hooks: skipHooks,
  },
  output: integrated,
  run: (repository, { commit, ...query }, call) =>
    replay(repository, "revert", commit === undefined ? [] : [commit], query, call),
});
