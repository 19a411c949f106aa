import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { listRefs, refShape } from "../../repository/read/refs.ts";

export default tool({
  name: "git_list_refs",
  title: "List tags, remotes, stashes",
  description: "List tags, remotes, stashes, worktrees or recovery refs. For branches call git_branch.",
  effect: "read",
  openWorld: false,
  toolset: "read",
  input: z.strictObject({
    repo_path: repoPath,
    kind: z.enum(["tags", "remotes", "stashes", "worktrees", "recovery"]).describe("What to list."),
    limit: fields.limit(50, 1_000),
    cursor: fields.cursor,
  }),
  output: z.object({
    refs: z.array(refShape),
    next_cursor: fields.nextCursor,
  }),
  run: async ({ repo_path, ...query }, git, call) =>
    listRefs(await git.open(repo_path, call.signal), query, call.budget),
});
