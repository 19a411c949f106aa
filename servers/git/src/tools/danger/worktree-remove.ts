import * as z from "zod";
import { changeTool as tool } from "../../context.ts";
import { removeWorktree } from "../../repository/change/destroy.ts";
import { destroyed } from "../../repository/change/recovery.ts";

export default tool({
  name: "git_worktree_remove",
  title: "Remove a worktree",
  description:
    "Remove a linked worktree; its branch is kept. Shows the loss, asks, and keeps a recovery ref.",
  effect: "destroy",
  toolset: "danger",
  input: { path: z.string().min(1).describe("The worktree's directory.") },
  output: destroyed,
  run: removeWorktree,
});
