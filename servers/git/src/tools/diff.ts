import { oneLine } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { diffFields, textAnswer, readTool as tool } from "../context.ts";
import { checked, parseRange, sidesOf } from "../git/open/revisions.ts";
import { diff } from "../git/read/diff.ts";

export default tool({
  name: "git_diff",
  title: "Compare revisions",
  description:
    "Compare the working tree with a commit, or two commits by a range such as main...feature.",
  view: "diff",
  toolset: "read",
  input: {
    target: z.string().describe("A branch, tag or commit, or a range a..b or a...b."),
    ...diffFields,
    cursor: fields.cursor,
  },
  async run(repository, { target, ...query }, call) {
    const between = [checked(target)];
    if (parseRange(target) === undefined) await repository.worktree();
    const compared = { ...query, between, revisions: sidesOf(target), tool: "git_diff" };
    return textAnswer(`Diff with ${oneLine(target)}:`, await diff(repository, compared, call));
  },
});
