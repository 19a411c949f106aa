import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { diffFields, textAnswer, readTool as tool } from "../context.ts";
import { show } from "../git/read/show.ts";

const line = z.int().min(1).max(100_000_000).optional();

export default tool({
  name: "git_show",
  title: "Show an object",
  description:
    "Show a commit with its patch, a tag, a directory (HEAD:src) or a file's content (HEAD:src/a.ts).",
  view: "diff",
  toolset: "read",
  input: {
    revision: z.string().describe("Commit, tag, branch or revision:path."),
    ...diffFields,
    start_line: line.describe("First line, from 1."),
    end_line: line.describe("Last line."),
    cursor: fields.cursor,
  },
  run: async (repository, query, call) => textAnswer("", await show(repository, query, call)),
});
