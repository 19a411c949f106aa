import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { includeIgnored, notes, tool } from "../context.ts";

const lines = z.array(z.string()).optional();

export default tool({
  name: "search_text",
  title: "Search text",
  description:
    "Find lines in files by a regular expression (RE2) or literal text, in a directory or one file. " +
    "Lines are matched one by one; binary files are skipped. For names of files call search_files.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    pattern: z.string().describe("RE2 expression, for example func\\w+\\(, or text with literal=true."),
    path: z.string().default(".").describe("Directory or file; absolute, or below an allowed directory."),
    glob: z.string().optional().describe("Only files like this, for example *.ts or src/**."),
    literal: z.boolean().default(false).describe("Take the pattern as plain text."),
    ignore_case: z.boolean().default(false).describe("Ignore letter case."),
    mode: z
      .enum(["content", "files", "counts"])
      .default("content")
      .describe("content: the lines; files: only paths; counts: lines per file."),
    context: z.int().min(0).max(10).default(0).describe("Lines to show around each, 0 to 10."),
    include_ignored: includeIgnored,
    limit: z.int().min(1).max(1000).default(100).describe("Lines (content) or files at most, 1 to 1000."),
    cursor: fields.cursor,
  }),
  output: z.object({
    files: z.array(
      z.object({
        path: z.string(),
        lines: z.number().optional(),
        matches: z
          .array(
            z.object({
              line: z.number(),
              text: z.string(),
              column: z.number().optional(),
              before: lines,
              after: lines,
            }),
          )
          .optional(),
      }),
    ),
    total_files: z.number().optional(),
    total_lines: z.number().optional(),
    next_cursor: fields.nextCursor,
    notes,
  }),
  run({ ignore_case, include_ignored, ...search }, files, call) {
    return files.searchText({
      ...search,
      ignoreCase: ignore_case,
      includeIgnored: include_ignored,
      budget: call.budget,
      signal: call.signal,
    });
  },
});
