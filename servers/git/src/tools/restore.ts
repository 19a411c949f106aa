import * as z from "zod";
import { files, flag, option, changeTool as tool } from "../context.ts";
import { restore } from "../git/change/stage.ts";
import { changeFields } from "../git/read/changes.ts";

export default tool({
  name: "git_restore",
  title: "Restore files",
  description: "Restore files from the index or a commit. Keeps the previous content for recovery.",
  effect: "change",
  toolset: "write",
  idempotent: true,
  input: {
    files: files("Files or directories"),
    source: option("Commit to restore from. Default: the index."),
    staged: flag("Restore the index."),
    worktree: z.boolean().default(true).describe("Restore the files."),
  },
  output: z.object(changeFields),
  run: restore,
});
