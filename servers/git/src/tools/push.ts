import * as z from "zod";
import { flag, notes, option, remoteName, skipHooks, changeTool as tool } from "../context.ts";
import { movedRefs, push } from "../git/remote/transfer.ts";

export default tool({
  name: "git_push",
  title: "Push",
  description: "Push a branch, and a tag, to a remote under the same name. It never forces.",
  effect: "change",
  openWorld: true,
  toolset: "remote",
  input: {
    remote: remoteName,
    branch_name: option("Default: the current branch."),
    tag: option("A tag to push as well."),
    set_upstream: flag("Track the remote branch."),
    skip_hooks: skipHooks,
  },
  output: z.object({ remote: z.string(), pushed: movedRefs, notes }),
  run: (repository, query, call) => push(repository, query, call),
});
