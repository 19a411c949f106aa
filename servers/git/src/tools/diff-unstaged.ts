import * as fields from "@refmcp/core/fields";
import { diffFields, flag, textAnswer, readTool as tool } from "../context.ts";
import { diff } from "../git/read/diff.ts";

export default tool({
  name: "git_diff_unstaged",
  title: "Unstaged changes",
  description: "Get the unstaged changes.",
  view: "diff",
  toolset: "read",
  input: {
    ...diffFields,
    include_untracked: flag("Include new files."),
    cursor: fields.cursor,
  },
  async run(repository, query, call) {
    await repository.worktree();
    const compared = { ...query, between: [], tool: "git_diff_unstaged", hunk_ids: true };
    return textAnswer("Unstaged changes:", await diff(repository, compared, call));
  },
});
