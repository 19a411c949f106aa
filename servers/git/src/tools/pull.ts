import { option, remoteName, skipHooks, changeTool as tool } from "../context.ts";
import { integrated } from "../git/integrate/end-operation.ts";
import { pull } from "../git/remote/transfer.ts";

export default tool({
  name: "git_pull",
  title: "Pull",
  description:
    "Fetch a branch and fast-forward the current branch to it. If both have new commits, use git_fetch, then git_merge or git_rebase.",
  effect: "change",
  openWorld: true,
  toolset: "remote",
  input: {
    remote: remoteName,
    branch_name: option("Remote branch. Default: the same name."),
    skip_hooks: skipHooks,
  },
  output: integrated,
  run: pull,
});
