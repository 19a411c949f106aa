import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { diffFields, repoPath, textAnswer, tool } from "../../context.ts";
import { show } from "../../repository/read/show.ts";

const line = z.int().min(1).max(100_000_000).optional();

export default tool({
  name: "git_show",
  title: "Show an object",
  description:
    "Show a commit with its patch, a tag, a directory (HEAD:src) or a file's content (HEAD:src/a.ts).",
  effect: "read",
  openWorld: false,
  view: "diff",
  toolset: "read",
  input: z.strictObject({
    repo_path: repoPath,
    revision: z.string().describe("A commit, tag or branch, or revision:path."),
    ...diffFields,
    start_line: line.describe("First line of a file, from 1."),
    end_line: line.describe("Last line of a file."),
    cursor: fields.cursor,
  }),
  async run({ repo_path, ...query }, git, call) {
    const repository = await git.open(repo_path, call.signal);
    return textAnswer("", await show(repository, query, call.budget));
  },
});
