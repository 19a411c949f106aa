import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { diffFields, repoPath, textAnswer, tool } from "../../context.ts";
import { diff } from "../../repository/read/diff.ts";

export default tool({
  name: "git_diff_staged",
  title: "Staged changes",
  description: "Show changes staged for the next commit.",
  effect: "read",
  openWorld: false,
  view: "diff",
  toolset: "read",
  input: z.strictObject({
    repo_path: repoPath,
    ...diffFields,
    cursor: fields.cursor,
  }),
  async run({ repo_path, ...query }, git, call) {
    const repository = await git.open(repo_path, call.signal);
    await repository.worktree();
    const compared = { ...query, between: ["--cached"], tool: "git_diff_staged" };
    return textAnswer("Staged changes:", await diff(repository, compared, call.budget));
  },
});
