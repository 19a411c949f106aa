import * as z from "zod";
import { changeTool as tool } from "../context.ts";
import { conflictFields } from "../git/change/conflicts.ts";
import { stashApply } from "../git/change/stash.ts";
import { changeFields } from "../git/read/changed-files.ts";

export default tool({
  name: "git_stash_apply",
  title: "Apply a stash",
  description:
    "Apply a stash, or a recovery ref, to the working tree. The stash is removed only with drop.",
  effect: "change",
  toolset: "write",
  input: {
    stash: z.string().default("stash@{0}").describe("e.g. stash@{1} or refs/refmcp/…"),
    index: z.boolean().default(false).describe("Also restore the index."),
    drop: z.boolean().default(false).describe("Then drop it."),
  },
  output: z.object({
    commit: z.string(),
    ...changeFields,
    conflicted: z.array(z.string()).optional(),
    ...conflictFields,
  }),
  run: stashApply,
});
