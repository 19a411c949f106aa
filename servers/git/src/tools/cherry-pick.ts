import * as z from "zod";
import { action, mainline, onConflict, skipHooks, changeTool as tool } from "../context.ts";
import { integrated } from "../git/integrate/end-operation.ts";
import { replay } from "../git/integrate/integrate.ts";

export default tool({
  name: "git_cherry_pick",
  title: "Cherry-pick",
  description: "Copy commits onto the current branch, in the given order.",
  effect: "change",
  toolset: "extra",
  input: {
    commits: z.array(z.string()).max(50).default([]).describe("Commits to copy, oldest first."),
    mainline,
    on_conflict: onConflict,
    action,
    skip_hooks: skipHooks,
  },
  output: integrated,
  run: (repository, { commits, ...query }, call) =>
    replay(repository, "cherry-pick", commits, query, call),
});
