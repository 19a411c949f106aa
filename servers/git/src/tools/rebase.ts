import * as z from "zod";
import { onConflict, skipHooks, changeTool as tool } from "../context.ts";
import { rebase } from "../git/change/destroy.ts";
import { destroyed } from "../git/change/recovery.ts";

export default tool({
  name: "git_rebase",
  title: "Rebase",
  description:
    "Rebase the current branch onto another commit. Shows what moves, asks, and keeps a recovery ref.",
  effect: "destroy",
  toolset: "danger",
  input: {
    onto: z.string().describe("Branch or commit to rebase onto."),
    on_conflict: onConflict,
    skip_hooks: skipHooks,
  },
  output: destroyed,
  run: rebase,
});
