import * as z from "zod";
import { excludePatterns, includeIgnored, path, tool } from "../context.ts";

export default tool({
  name: "directory_tree",
  title: "Directory tree",
  description:
    "Show the shape of a directory as an indented tree, to get to know a project. " +
    "Directories end in /, links in @; +N more counts entries that are not shown. To find a name call search_files. " +
    "The last line, in square brackets, is the server's.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    path,
    excludePatterns,
    max_depth: z.int().min(1).max(20).default(3).describe("Levels to show, 1 to 20."),
    max_entries: z.int().min(1).max(5000).default(1000).describe("Entries to show, 1 to 5000."),
    include_ignored: includeIgnored,
  }),
  run({ path, excludePatterns, max_depth, max_entries, include_ignored }, files, call) {
    return files.tree({
      path,
      maxDepth: max_depth,
      maxEntries: max_entries,
      exclude: excludePatterns,
      includeIgnored: include_ignored,
      budget: call.budget,
      signal: call.signal,
    });
  },
});
