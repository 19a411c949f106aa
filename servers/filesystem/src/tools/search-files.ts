import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { cursor, excludePatterns, includeIgnored, path, tool } from "../context.ts";
import { searchNames } from "../files/tree/search-names.ts";

export default tool({
  name: "search_files",
  title: "Search files",
  description:
    "Find files and directories in a directory by a glob on their names. " +
    "A pattern without a slash matches at any depth. To search contents call search_text.",
  effect: "read",
  toolset: "search",
  input: z.strictObject({
    path,
    pattern: z.string().describe("Glob, for example src/**/*.{ts,tsx}."),
    excludePatterns,
    type: z
      .enum(["any", "file", "directory"])
      .default("any")
      .describe("any, or only a file or a directory."),
    sort: z
      .enum(["path", "mtime", "size"])
      .default("path")
      .describe("mtime: newest first; size: largest."),
    include_ignored: includeIgnored,
    limit: fields.limit(100, 1000),
    cursor,
  }),
  run(input, files, call) {
    const progress = (done: number) => call.progress(done, undefined, "entries");
    return searchNames(files, { ...input, budget: call.budget, signal: call.signal, progress });
  },
});
