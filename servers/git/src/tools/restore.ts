import * as z from "zod";
import { files, hunks, changeTool as tool } from "../context.ts";
import { restoreSelected } from "../git/change/stage.ts";
import { changeFields } from "../git/read/changed-files.ts";

export default tool({
  name: "git_restore",
  title: "Restore files",
  description:
    "Restore files, or only hunks, from the index or a commit. Their previous content is kept under a recovery ref.",
  effect: "change",
  toolset: "write",
  idempotent: true,
  input: {
    files: files("Files or directories").optional(),
    hunks,
    source: z.string().optional().describe("Commit; default: the index."),
    staged: z.boolean().default(false).describe("Restore the index."),
    worktree: z.boolean().default(true).describe("Restore the files."),
  },
  output: z.object(changeFields),
  run: restoreSelected,
});
