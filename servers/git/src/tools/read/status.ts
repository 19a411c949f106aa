import * as z from "zod";
import { answer, paths, repoPath, tool } from "../../context.ts";
import { status, statusShape } from "../../repository/read/status.ts";

export default tool({
  name: "git_status",
  title: "Working tree status",
  description:
    "Show branch, upstream, staged, unstaged, untracked and conflicted files. Call it first. A new directory is one entry; pass it in paths to list its files.",
  effect: "read",
  openWorld: false,
  toolset: "read",
  input: z.strictObject({
    repo_path: repoPath,
    paths,
  }),
  output: statusShape,
  async run({ repo_path, ...query }, git, call) {
    const repository = await git.open(repo_path, call.signal);
    return answer("Repository status:", await status(repository, query, call.budget));
  },
});
