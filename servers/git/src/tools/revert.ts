import * as z from "zod";
import { mainline, onConflict, skipHooks, changeTool as tool } from "../context.ts";
import { integrated, replay } from "../git/change/integrate.ts";

export default tool({
  name: "git_revert",
  title: "Revert a commit",
  description: "Create a commit that undoes another one.",
  effect: "change",
  toolset: "extra",
  input: {
    commit: z.string().describe("The commit to undo."),
    mainline,
    on_conflict: onConflict,
    skip_hooks: skipHooks,
  },
  output: integrated,
  run: (repository, { commit, ...query }, call) =>
    replay(repository, "revert", [commit], query, call),
});
