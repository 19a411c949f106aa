import * as z from "zod";
import { skipHooks, changeTool as tool } from "../context.ts";
import { deleteBranch } from "../git/change/destroy.ts";
import { destroyed } from "../git/change/recovery.ts";

export default tool({
  name: "git_delete_branch",
  title: "Delete a branch",
  description:
    "Delete a branch here or on a remote, merged or not. Shows what is lost, asks, and keeps a recovery ref.",
  effect: "destroy",
  openWorld: true,
  toolset: "danger",
  input: {
    branch_name: z.string().min(1).max(250).describe("The branch to delete."),
    remote: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("Delete it on this remote. Default: here."),
    skip_hooks: skipHooks,
  },
  output: destroyed,
  run: deleteBranch,
});
