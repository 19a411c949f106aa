import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { listedEntry, notes, path, tool } from "../context.ts";

export default tool({
  name: "list_directory_with_sizes",
  title: "List directory with sizes",
  description:
    "List what one directory holds with sizes in bytes and times of change, and their sum on the first page. " +
    "Sizes of directories are not added up.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    path,
    sortBy: z
      .enum(["name", "size", "mtime"])
      .default("name")
      .describe("size: largest first; mtime: newest first."),
    limit: fields.limit(200, 1000),
    cursor: fields.cursor,
  }),
  output: z.object({
    path: z.string(),
    entries: z.array(
      z.object({ ...listedEntry, size: z.number().optional(), modified: z.string().optional() }),
    ),
    total: z.number(),
    total_files: z.number().optional(),
    total_directories: z.number().optional(),
    total_size: z.number().optional(),
    next_cursor: fields.nextCursor,
    notes,
  }),
  run({ path, sortBy, limit, cursor }, files, call) {
    return files.list({
      path,
      details: true,
      sort: sortBy,
      limit,
      cursor,
      budget: call.budget,
      signal: call.signal,
    });
  },
});
