import * as z from "zod";
import { excludePatterns, includeIgnored, path, tool } from "../context.ts";
import { drawTree } from "../files/tree/directory-tree.ts";

export default tool({
  name: "directory_tree",
  title: "Directory tree",
  description:
    "Show a directory as an indented tree, for an overview of a project. " +
    "Directories end in /, links in @. To find a name call search_files.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({
    path,
    excludePatterns,
    max_depth: z.int().min(1).max(20).default(3).describe("Levels to show."),
    max_entries: z.int().min(1).max(5000).default(1000).describe("Entries to show."),
    include_ignored: includeIgnored,
  }),
  run(input, files, call) {
    const progress = (done: number) => call.progress(done, undefined, "directories");
    return drawTree(files, { ...input, budget: call.budget, signal: call.signal, progress });
  },
});
