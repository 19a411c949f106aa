import * as z from "zod";
import { answer, files, repoPath, tool } from "../../context.ts";
import { fileNames, stage, stagedChanges } from "../../repository/change/stage.ts";
import { changedFiles } from "../../repository/read/changed-files.ts";

export default tool({
  name: "git_add",
  title: "Stage files",
  description: "Stage new, changed and deleted files for the next commit.",
  effect: "change",
  openWorld: false,
  toolset: "write",
  idempotent: true,
  input: z.strictObject({
    repo_path: repoPath,
    files: files("Files or directories; . for all"),
  }),
  output: z.object({ staged: changedFiles, count: z.number() }),
  run: ({ repo_path, files: wanted }, git, call) =>
    git.change(repo_path, call.signal, async (repository) => {
      await stage(repository, wanted);
      const { files: staged, count } = fileNames(await stagedChanges(repository), call.budget - 500);
      return answer("Files staged successfully", { staged, count });
    }),
});
