import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { contextLines, diffFormat, paths, repoPath, textAnswer, tool } from "../context.ts";
import { diff } from "../repository/read/diff.ts";

export default tool({
  name: "git_diff_unstaged",
  title: "Unstaged changes",
  description:
    "Show changes of the working tree that are not staged yet. New files stand in git_status only.",
  effect: "read",
  openWorld: false,
  toolset: "read",
  input: z.strictObject({
    repo_path: repoPath,
    context_lines: contextLines,
    paths,
    format: diffFormat,
    cursor: fields.cursor,
  }),
  async run({ repo_path, context_lines, ...query }, git, call) {
    const repository = await git.open(repo_path, call.signal);
    await repository.worktree();
    const compared = { ...query, between: [], contextLines: context_lines, tool: "git_diff_unstaged" };
    return textAnswer("Unstaged changes:", await diff(repository, compared, call.budget));
  },
});
