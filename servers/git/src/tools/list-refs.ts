import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { readTool as tool } from "../context.ts";
import { listRefs, refShape } from "../git/history/refs.ts";

export default tool({
  name: "git_list_refs",
  title: "List tags, remotes, stashes",
  description:
    "List tags, remotes, stashes, worktrees, or what was kept for recovery. For branches, use git_branch.",
  toolset: "read",
  input: {
    kind: z
      .enum(["tags", "remotes", "stashes", "worktrees", "recovery"])
      .describe("tags, remotes, stashes, worktrees or recovery."),
    revision: z
      .string()
      .optional()
      .describe("With tags: the nearest before it, and the first with it."),
    limit: fields.limit(50, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ refs: z.array(refShape), next_cursor: fields.nextCursor }),
  run: listRefs,
});
