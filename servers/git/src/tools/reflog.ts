import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { readTool as tool } from "../context.ts";
import { reflog, refShape } from "../git/read/refs.ts";

export default tool({
  name: "git_reflog",
  title: "Reflog",
  description:
    "List earlier positions of HEAD or a branch, newest first, for example to find lost commits.",
  toolset: "extra",
  input: {
    ref: z.string().default("HEAD").describe("HEAD, a branch, or recovery: what changes kept."),
    limit: fields.limit(20, 1_000),
    cursor: fields.cursor,
  },
  output: z.object({ entries: z.array(refShape), next_cursor: fields.nextCursor }),
  run: reflog,
});
