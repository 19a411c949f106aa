import * as z from "zod";
import { files, repoPath, tool } from "../../context.ts";
import { destroyed } from "../../repository/change/confirm-loss.ts";
import { clean } from "../../repository/change/destroy-files.ts";

export default tool({
  name: "git_clean",
  title: "Delete untracked files",
  description: "Delete untracked files. Lists them, asks, and keeps them under a recovery ref.",
  effect: "destroy",
  openWorld: false,
  toolset: "danger",
  input: z.strictObject({
    repo_path: repoPath,
    files: files("Only these").optional(),
    ignored: z.boolean().default(false).describe("Include ignored files."),
  }),
  output: destroyed,
  run: ({ repo_path, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) => clean(repository, query, call)),
});
