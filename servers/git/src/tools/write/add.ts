import * as z from "zod";
import { answer, files, changeTool as tool } from "../../context.ts";
import { stage, stagedChanges } from "../../repository/change/stage.ts";
import { changedFiles, fileNames } from "../../repository/read/changed-files.ts";

export default tool({
  name: "git_add",
  title: "Stage files",
  description: "Stage new, changed and deleted files for the next commit.",
  effect: "change",
  toolset: "write",
  idempotent: true,
  input: { files: files("Files or directories; . for all") },
  output: z.object({ staged: changedFiles, count: z.number() }),
  async run(repository, { files }, call) {
    await stage(repository, files);
    const { files: staged, count } = fileNames(await stagedChanges(repository), call.budget - 500);
    return answer("Files staged successfully", { staged, count });
  },
});
