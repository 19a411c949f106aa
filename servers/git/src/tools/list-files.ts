import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { paths, readTool as tool } from "../context.ts";
import { listFiles } from "../git/read/show.ts";

export default tool({
  name: "git_list_files",
  title: "List files",
  description: "List tracked, untracked or ignored files, or only those of a commit.",
  toolset: "read",
  input: {
    kind: z
      .enum(["tracked", "untracked", "ignored"])
      .default("tracked")
      .describe("Tracked, untracked or ignored."),
    revision: z.string().optional().describe("Of this commit instead."),
    paths,
    limit: fields.limit(200, 5_000),
    cursor: fields.cursor,
  },
  output: z.object({ files: z.array(z.string()), next_cursor: fields.nextCursor }),
  run: listFiles,
});
