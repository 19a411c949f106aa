import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { destroyed } from "../../repository/change/confirm-loss.ts";
import { dropStash } from "../../repository/change/destroy-commits.ts";

export default tool({
  name: "git_drop_stash",
  title: "Drop a stash",
  description: "Delete one stash. Shows its contents, asks, and keeps a recovery ref.",
  effect: "destroy",
  openWorld: false,
  toolset: "danger",
  input: z.strictObject({
    repo_path: repoPath,
    stash: z.string().min(1).max(60).default("stash@{0}").describe("stash@{0} is the newest."),
  }),
  output: destroyed,
  run: ({ repo_path, stash }, git, call) =>
    git.change(repo_path, call.signal, (repository) => dropStash(repository, stash, call)),
});
