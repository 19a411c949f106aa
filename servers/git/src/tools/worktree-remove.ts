import * as z from "zod";
import { changeTool as tool } from "../context.ts";
import { destroyed } from "../git/change/recovery.ts";
import { removeWorktree } from "../git/change/worktrees.ts";

export default tool({
  name: "git_worktree_remove",
  title: "Remove a worktree",
  description:
    "Remove a linked worktree; its branch is kept. Without path: forget those whose directory is gone. Shows the loss, asks, and keeps a recovery ref.",
  effect: "destroy",
  toolset: "danger",
  input: { path: z.string().min(1).optional().describe("The worktree's directory.") },
  output: destroyed,
  run: removeWorktree,
});
