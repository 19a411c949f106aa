import { option, remoteName, skipHooks, changeTool as tool } from "../context.ts";
import { destroyed } from "../git/change/recovery.ts";
import { forcePush } from "../git/remote/force.ts";

export default tool({
  name: "git_push_force_with_lease",
  title: "Force push with lease",
  description:
    "Replace a remote branch, only if it has not moved since it was fetched. Shows what is lost, and asks.",
  effect: "destroy",
  openWorld: true,
  toolset: "danger",
  input: {
    remote: remoteName,
    branch_name: option("Default: the current branch."),
    skip_hooks: skipHooks,
  },
  output: destroyed,
  run: forcePush,
});
