import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { destroyed } from "../../repository/change/confirm-loss.ts";
import { resetHard } from "../../repository/change/destroy-files.ts";

export default tool({
  name: "git_reset_hard",
  title: "Reset hard",
  description:
    "Move the branch, index and working tree to a commit. Shows the loss, asks, and keeps a recovery ref.",
  effect: "destroy",
  openWorld: false,
  toolset: "danger",
  input: z.strictObject({
    repo_path: repoPath,
    revision: z.string().default("HEAD").describe("Where to reset to."),
  }),
  output: destroyed,
  run: ({ repo_path, revision }, git, call) =>
    git.change(repo_path, call.signal, (repository) => resetHard(repository, revision, call)),
});
