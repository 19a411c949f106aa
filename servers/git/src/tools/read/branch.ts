import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { readTool as tool } from "../../context.ts";
import { branches, branchShape } from "../../repository/read/refs.ts";

const commit = z.string().optional();

export default tool({
  name: "git_branch",
  title: "List branches",
  description: "List local or remote branches with their last commit and upstream.",
  toolset: "read",
  input: {
    branch_type: z.enum(["local", "remote", "all"]).default("local").describe("Which branches."),
    contains: commit.describe("Only branches with this commit."),
    not_contains: commit.describe("Only branches without this commit."),
    limit: fields.limit(100, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ branches: z.array(branchShape), next_cursor: fields.nextCursor }),
  run: branches,
});
