import * as z from "zod";
import { remoteName, changeTool as tool } from "../context.ts";
import { fetch, movedRefs } from "../git/remote/transfer.ts";

export default tool({
  name: "git_fetch",
  title: "Fetch",
  description: "Fetch a remote's branches. Local branches don't move.",
  effect: "add",
  openWorld: true,
  toolset: "remote",
  input: {
    remote: remoteName,
    branch_name: z.string().min(1).max(250).optional().describe("Only this branch."),
    prune: z.boolean().default(false).describe("Remove branches deleted on the remote."),
    tags: z.boolean().default(false).describe("Fetch all tags."),
    deepen: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe("Shallow clone: fetch this many more commits; 0 for all."),
  },
  output: z.object({
    remote: z.string(),
    updated: movedRefs,
    count: z.number(),
    /** After deepen: how many commits HEAD has now, and whether older ones are still missing. */
    history: z.number().optional(),
    shallow: z.boolean().optional(),
  }),
  run: fetch,
});
