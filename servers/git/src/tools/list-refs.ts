import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { readTool as tool } from "../context.ts";
import { listRefs, refShape } from "../git/read/refs.ts";

export default tool({
  name: "git_list_refs",
  title: "List tags, remotes, stashes",
  description:
    "List tags, remotes, stashes, worktrees or recovery refs. Branches are only in git_branch.",
  toolset: "read",
  input: {
    kind: z
      .enum(["tags", "remotes", "stashes", "worktrees", "recovery"])
      .describe("tags, remotes, stashes, …: one per call."),
    revision: z
      .string()
      .optional()
      .describe("With tags: the nearest before e.g. HEAD, the first with it."),
    limit: fields.limit(50, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ refs: z.array(refShape), next_cursor: fields.nextCursor }),
  run: listRefs,
});
