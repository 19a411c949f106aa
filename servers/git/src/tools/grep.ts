import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { contextLines, notes, paths, readable, readTool as tool } from "../context.ts";
import { fileMatches, grep } from "../git/read/grep.ts";

export default tool({
  name: "git_grep",
  title: "Search tracked files",
  description: "Search tracked files for a regular expression, in the working tree or in a commit.",
  toolset: "read",
  input: {
    pattern: z.string().min(1).max(2_000).describe("Regex, e.g. TODO|FIXME."),
    revision: z.string().optional().describe("Search this commit instead."),
    paths,
    ignore_case: z.boolean().default(false).describe("Case-insensitive."),
    fixed_strings: z.boolean().default(false).describe("Match pattern literally."),
    context_lines: contextLines.default(0),
    limit: fields.limit(100, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ files: z.array(fileMatches), next_cursor: fields.nextCursor, notes }),
  run: async (repository, query, call) => readable("", await grep(repository, query, call)),
});
