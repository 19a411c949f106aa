import * as z from "zod";
import { files, flag, option, changeTool as tool } from "../context.ts";
import { stashPush } from "../git/change/stash.ts";
import { changedFiles } from "../git/read/changes.ts";

export default tool({
  name: "git_stash",
  title: "Stash changes",
  description: "Save local changes, or only some files, as a stash; git_stash_apply restores them.",
  effect: "change",
  toolset: "write",
  input: {
    message: option("Message, e.g. half a fix."),
    files: files("Stash only these").optional(),
    include_untracked: flag("Include new files."),
    keep_index: flag("Keep staged changes."),
  },
  output: z.object({
    stash: z.string(),
    commit: z.string(),
    files: changedFiles,
    count: z.number(),
  }),
  run: stashPush,
});
