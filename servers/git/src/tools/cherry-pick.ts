import * as z from "zod";
import { mainline, onConflict, skipHooks, changeTool as tool } from "../context.ts";
import { integrated, replay } from "../git/change/integrate.ts";

export default tool({
  name: "git_cherry_pick",
  title: "Cherry-pick",
  description: "Copy commits onto the current branch, in the given order.",
  effect: "change",
  toolset: "extra",
  input: {
    commits: z.array(z.string()).min(1).max(50).describe("Commits to copy, oldest first."),
    mainline,
    on_conflict: onConflict,
    skip_hooks: skipHooks,
  },
  output: integrated,
  run: (repository, { commits, ...query }, call) =>
    replay(repository, "cherry-pick", commits, query, call),
});
