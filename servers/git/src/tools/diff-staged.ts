import * as fields from "@refmcp/core/fields";
import { diffFields, textAnswer, readTool as tool } from "../context.ts";
import { diff } from "../git/read/diff.ts";

export default tool({
  name: "git_diff_staged",
  title: "Staged changes",
  description: "Get the changes staged for a commit.",
  view: "diff",
  toolset: "read",
  input: { ...diffFields, cursor: fields.cursor },
  async run(repository, query, call) {
    await repository.worktree();
    const compared = { ...query, between: ["--cached"], tool: "git_diff_staged", hunk_ids: true };
    return textAnswer("Staged changes:", await diff(repository, compared, call));
  },
});
