import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { readTool as tool } from "../context.ts";
import { branches, branchShape } from "../git/history/branches.ts";

const commit = z.string().optional();

export default tool({
  name: "git_branch",
  title: "List branches",
  description: "List branches, by default only local, with last commit and upstream.",
  toolset: "read",
  input: {
    branch_type: z
      .enum(["local", "remote", "all"])
      .default("local")
      .describe("Local, remote or all."),
    contains: commit.describe("Only with this commit, e.g. v1.0."),
    not_contains: commit.describe("Only without this commit."),
    limit: fields.limit(100, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ branches: z.array(branchShape), next_cursor: fields.nextCursor }),
  run: branches,
});
