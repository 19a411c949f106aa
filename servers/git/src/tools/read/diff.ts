import { oneLine } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { diffFields, repoPath, textAnswer, tool } from "../../context.ts";
import { comparedTrees } from "../../repository/open/revisions.ts";
import { diff } from "../../repository/read/diff.ts";

export default tool({
  name: "git_diff",
  title: "Compare revisions",
  description: "Compare the working tree with a commit, or two commits with a range such as main...feature.",
  effect: "read",
  openWorld: false,
  view: "diff",
  toolset: "read",
  input: z.strictObject({
    repo_path: repoPath,
    target: z.string().describe("A branch, tag or commit, or a range a..b or a...b."),
    ...diffFields,
    cursor: fields.cursor,
  }),
  async run({ repo_path, target, ...query }, git, call) {
    const repository = await git.open(repo_path, call.signal);
    const compared = { ...query, between: await comparedTrees(repository, target), tool: "git_diff" };
    return textAnswer(`Diff with ${oneLine(target)}:`, await diff(repository, compared, call.budget));
  },
});
