import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { flag, option, paths, readable, readTool as tool } from "../context.ts";
import { fileMatches, grep } from "../git/read/grep.ts";

export default tool({
  name: "git_grep",
  title: "Search tracked files",
  description: "Search tracked files for a regular expression, in the working tree or in a commit.",
  toolset: "read",
  input: {
    pattern: z.string().min(1).max(2_000).describe("Regex, e.g. TODO|FIXME."),
    revision: option("Search this commit instead."),
    paths,
    ignore_case: flag("Case-insensitive."),
    fixed_strings: flag("Match pattern literally."),
    limit: fields.limit(100, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ files: z.array(fileMatches), next_cursor: fields.nextCursor }),
  run: async (repository, query, call) => readable("", await grep(repository, query, call)),
});
