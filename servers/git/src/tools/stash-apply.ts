import * as z from "zod";
import { flag, changeTool as tool } from "../context.ts";
import { conflictFields } from "../git/change/conflicts.ts";
import { stashApply } from "../git/change/stash.ts";
import { changeFields } from "../git/read/changes.ts";

export default tool({
  name: "git_stash_apply",
  title: "Apply a stash",
  description:
    "Apply a stash, or what a change kept for recovery, to the working tree. Only drop removes the stash.",
  effect: "change",
  toolset: "write",
  input: {
    stash: z.string().default("stash@{0}").describe("stash@{1} or a commit."),
    index: flag("Also restore the index."),
    drop: flag("Remove it afterwards."),
  },
  output: z.object({ commit: z.string(), ...changeFields, ...conflictFields }),
  run: stashApply,
});
