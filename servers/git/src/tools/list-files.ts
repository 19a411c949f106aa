import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { choice, option, paths, readTool as tool } from "../context.ts";
import { listFiles } from "../git/read/list-files.ts";

export default tool({
  name: "git_list_files",
  title: "List files",
  description: "List tracked, untracked or ignored files, or those of a commit.",
  toolset: "read",
  input: {
    kind: choice(["tracked", "untracked", "ignored"], "tracked, untracked or ignored files."),
    revision: option("Files of this commit instead."),
    paths,
    limit: fields.limit(200, 5_000),
    cursor: fields.cursor,
  },
  output: z.object({ files: z.array(z.string()), next_cursor: fields.nextCursor }),
  run: listFiles,
});
