import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { cursor, path, tool } from "../context.ts";
import { listDirectory } from "../files/tree/list-directory.ts";

export default tool({
  name: "list_directory_with_sizes",
  title: "List directory with sizes",
  description:
    "List one directory with sizes in bytes, modification times and the total size of its files.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({
    path,
    sortBy: z
      .enum(["name", "size", "mtime"])
      .default("name")
      .describe("size: largest first; mtime: newest first."),
    limit: fields.limit(200, 1000),
    cursor,
  }),
  run({ sortBy: sort, ...input }, files, { budget, signal }) {
    return listDirectory(files, { ...input, details: true, sort, budget, signal });
  },
});
