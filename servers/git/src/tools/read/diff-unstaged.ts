import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { diffFields, repoPath, textAnswer, tool } from "../../context.ts";
import { diff } from "../../repository/read/diff.ts";

export default tool({
  name: "git_diff_unstaged",
  title: "Unstaged changes",
  description: "Show unstaged changes; include_untracked adds new files.",
  effect: "read",
  openWorld: false,
  view: "diff",
  toolset: "read",
  input: z.strictObject({
    repo_path: repoPath,
    ...diffFields,
    include_untracked: z.boolean().default(false).describe("Include new files."),
    cursor: fields.cursor,
  }),
  async run({ repo_path, ...query }, git, call) {
    const repository = await git.open(repo_path, call.signal);
    await repository.worktree();
    const compared = { ...query, between: [], tool: "git_diff_unstaged" };
    return textAnswer("Unstaged changes:", await diff(repository, compared, call.budget));
  },
});
