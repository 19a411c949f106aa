import * as z from "zod";
import { answer, files, repoPath, tool } from "../../context.ts";
import { unstage } from "../../repository/change/stage.ts";
import { changedFiles } from "../../repository/read/changed-files.ts";

export default tool({
  name: "git_reset",
  title: "Unstage",
  description: "Unstage everything, or some files. The working tree is unchanged.",
  effect: "change",
  openWorld: false,
  toolset: "write",
  idempotent: true,
  input: z.strictObject({
    repo_path: repoPath,
    files: files("Unstage only these").optional(),
  }),
  output: z.object({ files: changedFiles, count: z.number(), undo: z.string().optional() }),
  run: ({ repo_path, files: wanted }, git, call) =>
    git.change(repo_path, call.signal, async (repository) =>
      answer("All staged changes reset", await unstage(repository, wanted, call.budget)),
    ),
});
