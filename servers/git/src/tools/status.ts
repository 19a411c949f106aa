import * as z from "zod";
import { answer, changedFiles, notes, paths, repoPath, tool } from "../context.ts";
import { status } from "../repository/read/status.ts";

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
  output: z.object({
    branch: z.string().optional(),
    head: z.string().optional(),
    detached: z.boolean().optional(),
    unborn: z.boolean().optional(),
    upstream: z.string().optional(),
    ahead: z.number().optional(),
    behind: z.number().optional(),
    operation: z.string().optional(),
    clean: z.boolean(),
    staged: changedFiles,
    unstaged: changedFiles,
    untracked: z.array(z.string()),
    conflicted: changedFiles,
    stashes: z.number().optional(),
    left_out: z.number().optional(),
    notes,
  }),
  async run({ repo_path, ...query }, git, call) {
    const repository = await git.open(repo_path, call.signal);
    return answer("Repository status:", await status(repository, query, call.budget));
  },
});
