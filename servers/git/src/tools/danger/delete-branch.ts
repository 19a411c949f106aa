import * as z from "zod";
import { changeTool as tool } from "../../context.ts";
import { deleteBranch } from "../../repository/change/destroy.ts";
import { destroyed } from "../../repository/change/recovery.ts";

export default tool({
  name: "git_delete_branch",
  title: "Delete a branch",
  description: "Delete a local branch, merged or not. Shows what is lost, asks, and keeps a recovery ref.",
  effect: "destroy",
  toolset: "danger",
  input: { branch_name: z.string().min(1).max(250).describe("The branch to delete.") },
  output: destroyed,
  run: deleteBranch,
});
