import * as z from "zod";
import { remoteName, skipHooks, changeTool as tool } from "../context.ts";
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
    branch_name: z.string().min(1).max(250).optional().describe("Default: the current branch."),
    tag: z.string().min(1).max(250).optional().describe("A tag to push as well."),
    set_upstream: z.boolean().default(false).describe("Track the remote branch."),
    skip_hooks: skipHooks,
  },
  output: z.object({
    remote: z.string(),
    pushed: movedRefs,
    notes: z.array(z.string()).optional(),
  }),
  run: (repository, query, call) => push(repository, query, call),
});
