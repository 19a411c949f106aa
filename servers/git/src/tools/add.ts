import * as z from "zod";
import { files, hunks, changeTool as tool } from "../context.ts";
import { stageSelected } from "../git/change/stage.ts";
import { changedFiles } from "../git/read/changes.ts";

export default tool({
  name: "git_add",
  title: "Stage files",
  description: "Stage files, or some changes of git_diff_unstaged, for the next commit.",
  effect: "change",
  toolset: "write",
  idempotent: true,
  input: { files: files("Files or directories; . for all").optional(), hunks },
  output: z.object({ staged: changedFiles, count: z.number() }),
  run: stageSelected,
});
