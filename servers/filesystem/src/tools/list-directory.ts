import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { listedEntry, notes, path, tool } from "../context.ts";

export default tool({
  name: "list_directory",
  title: "List directory",
  description:
    "List what one directory holds, by name, with types and where links lead. " +
    "For sizes and times call list_directory_with_sizes, for nested directories directory_tree.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({ path, limit: fields.limit(200, 1000), cursor: fields.cursor }),
  output: z.object({
    path: z.string(),
    entries: z.array(z.object(listedEntry)),
    total: z.number(),
    next_cursor: fields.nextCursor,
    notes,
  }),
  run({ path, limit, cursor }, files, call) {
    return files.list({
      path,
      details: false,
      sort: "name",
      limit,
      cursor,
      budget: call.budget,
      signal: call.signal,
    });
  },
});
