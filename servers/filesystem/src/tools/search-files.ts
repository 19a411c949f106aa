import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { excludePatterns, includeIgnored, notes, path, tool } from "../context.ts";

export default tool({
  name: "search_files",
  title: "Search files by name",
  description:
    "Find files and directories below a directory by a glob on their names. " +
    "A pattern without a slash matches at any depth, one with a slash the path below the directory. " +
    "For what stands in files call search_text.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    path,
    pattern: z.string().describe("Glob, for example *.ts or src/**/*.{ts,tsx}."),
    excludePatterns,
    type: z.enum(["any", "file", "directory"]).default("any").describe("What to find."),
    sort: z
      .enum(["path", "mtime", "size"])
      .default("path")
      .describe("mtime: newest first; size: largest first."),
    include_ignored: includeIgnored,
    limit: fields.limit(100, 1000),
    cursor: fields.cursor,
  }),
  output: z.object({
    matches: z.array(
      z.object({
        path: z.string(),
        type: z.string(),
        size: z.number().optional(),
        modified: z.string().optional(),
      }),
    ),
    total: z.number().optional(),
    hidden: z.number().optional(),
    next_cursor: fields.nextCursor,
    notes,
  }),
  run({ excludePatterns, include_ignored, ...search }, files, call) {
    return files.searchNames({
      ...search,
      exclude: excludePatterns,
      includeIgnored: include_ignored,
      budget: call.budget,
      signal: call.signal,
    });
  },
});
