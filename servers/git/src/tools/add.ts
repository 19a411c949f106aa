import * as z from "zod";
import { answer, files, hunks, changeTool as tool } from "../context.ts";
import { stagedChanges, stageSelected } from "../git/change/stage.ts";
import { changedFiles, fileNames } from "../git/read/changes.ts";

export default tool({
  name: "git_add",
  title: "Stage files",
  description: "Stage files, or some changes of git_diff_unstaged, for the next commit.",
  effect: "change",
  toolset: "write",
  idempotent: true,
  input: {
    files: files("Files or directories; . for all").optional(),
    hunks,
  },
  output: z.object({ staged: changedFiles, count: z.number() }),
  async run(repository, query, call) {
    await stageSelected(repository, query);
    const { files: staged, count } = fileNames(await stagedChanges(repository), call.budget - 500);
    return answer("Files staged successfully", { staged, count });
  },
});
