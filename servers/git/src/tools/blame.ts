import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { textAnswer, readTool as tool } from "../context.ts";
import { blame } from "../git/read/blame.ts";

const line = z.int().min(1).max(100_000_000);

export default tool({
  name: "git_blame",
  title: "Blame",
  description:
    "Show who last changed each line of a file, and in which commit. For the reasons, use git_log with lines.",
  toolset: "read",
  input: {
    path: z.string().min(1).describe("File, e.g. src/a.ts."),
    revision: z.string().default("HEAD").describe("As of this commit."),
    start_line: line.default(1).describe("First line, from 1."),
    end_line: line.optional().describe("Last line."),
    cursor: fields.cursor,
  },
  run: async (repository, query, call) => textAnswer("", await blame(repository, query, call)),
});
