import { oneLine } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { diffFields, textAnswer, readTool as tool } from "../context.ts";
import { comparedTrees } from "../git/open/revisions.ts";
import { diff } from "../git/read/diff.ts";
import { rangeDiff } from "../git/read/range-diff.ts";

export default tool({
  name: "git_diff",
  title: "Compare revisions",
  description:
    "Compare the working tree with a commit, or only commits by a range such as main...feature.",
  view: "diff",
  toolset: "read",
  input: {
    target: z.string().describe("A branch, tag or commit, or a range a..b or a...b."),
    against: z.string().optional().describe("Another range to compare by commits (range-diff)."),
    ...diffFields,
    cursor: fields.cursor,
  },
  async run(repository, { target, against, ...query }, call) {
    if (against !== undefined) {
      const compared = await rangeDiff(repository, { ...query, target, against }, call);
      return textAnswer(`Diff of ${oneLine(target)} and ${oneLine(against)}:`, compared);
    }
    const compared = {
      ...query,
      between: await comparedTrees(repository, target),
      tool: "git_diff",
    };
    return textAnswer(`Diff with ${oneLine(target)}:`, await diff(repository, compared, call));
  },
});
