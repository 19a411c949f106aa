import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { option, readTool as tool } from "../context.ts";
import { listRefs, refShape } from "../git/read/refs.ts";

export default tool({
  name: "git_list_refs",
  title: "List tags, remotes, stashes",
  description:
    "List tags, remotes, stashes or worktrees. For branches, use git_branch; for what was kept, git_reflog.",
  toolset: "read",
  input: {
    kind: z
      .enum(["tags", "remotes", "stashes", "worktrees"])
      .describe("tags (newest first), remotes, stashes or worktrees."),
    contains: option("Only tags with this commit, oldest first: the release it came with."),
    limit: fields.limit(50, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ refs: z.array(refShape), next_cursor: fields.nextCursor }),
  run: listRefs,
});
