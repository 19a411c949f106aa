import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { choice, option, readTool as tool } from "../context.ts";
import { branches, refShape } from "../git/read/refs.ts";

export default tool({
  name: "git_branch",
  title: "List branches",
  description: "List branches, by default only local, with last commit and upstream.",
  toolset: "read",
  input: {
    branch_type: choice(["local", "remote", "all"], "Local, remote or all."),
    contains: option("Only those with this commit, such as v1.0."),
    limit: fields.limit(100, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ branches: z.array(refShape), next_cursor: fields.nextCursor }),
  run: branches,
});
