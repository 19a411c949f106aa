import * as z from "zod";
import { changeTool as tool } from "../../context.ts";
import { setRemote } from "../../repository/remote/remote.ts";

export default tool({
  name: "git_set_remote",
  title: "Add, change, rename or remove a remote",
  description: "Add a remote, change its URL, rename or remove it. Only git_fetch contacts it.",
  effect: "change",
  toolset: "remote",
  input: {
    remote: z.string().min(1).max(200).describe("Name, such as origin or upstream."),
    action: z
      .enum(["set", "rename", "remove"])
      .default("set")
      .describe("set: add it or change its URL; rename; remove."),
    url: z
      .string()
      .max(2_000)
      .optional()
      .describe("set: https:// or ssh:// URL, or user@host:path."),
    new_name: z.string().max(200).optional().describe("rename: the new name."),
  },
  output: z.object({
    remote: z.string(),
    url: z.string().optional(),
    /** The previous URL. */
    before: z.string().optional(),
    /** How many remote branches were renamed or removed, and the first removed ones with their commits. */
    branches: z.number().optional(),
    removed: z.array(z.string()).optional(),
    undo: z.string().optional(),
  }),
  run: setRemote,
});
