import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { paths, repoPath, tool } from "../../context.ts";
import { listFiles } from "../../repository/read/files.ts";

export default tool({
  name: "git_list_files",
  title: "List files",
  description: "List tracked, untracked or ignored files, or those of a commit.",
  effect: "read",
  openWorld: false,
  toolset: "read",
  input: z.strictObject({
    repo_path: repoPath,
    kind: z.enum(["tracked", "untracked", "ignored"]).default("tracked").describe("Which files."),
    revision: z.string().optional().describe("List the files of this commit instead."),
    paths,
    limit: fields.limit(200, 5_000),
    cursor: fields.cursor,
  }),
  output: z.object({ files: z.array(z.string()), next_cursor: fields.nextCursor }),
  run: async ({ repo_path, ...query }, git, call) =>
    listFiles(await git.open(repo_path, call.signal), query, call.budget),
});
