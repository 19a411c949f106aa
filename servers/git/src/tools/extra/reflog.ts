import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { reflog, reflogShape } from "../../repository/read/refs.ts";

export default tool({
  name: "git_reflog",
  title: "Reflog",
  description: "List earlier positions of HEAD or a branch, newest first, for example to find lost commits.",
  effect: "read",
  openWorld: false,
  toolset: "extra",
  input: z.strictObject({
    repo_path: repoPath,
    ref: z.string().default("HEAD").describe("HEAD or a branch."),
    limit: fields.limit(20, 1_000),
    cursor: fields.cursor,
  }),
  output: z.object({ entries: z.array(reflogShape), next_cursor: fields.nextCursor }),
  run: async ({ repo_path, ...query }, git, call) =>
    reflog(await git.open(repo_path, call.signal), query, call.budget),
});
