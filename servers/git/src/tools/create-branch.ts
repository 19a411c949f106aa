import * as z from "zod";
import { option, changeTool as tool } from "../context.ts";
import { createBranch } from "../git/change/branches.ts";

export default tool({
  name: "git_create_branch",
  title: "Create a branch",
  description: "Create a branch at HEAD or another commit, without switching to it.",
  effect: "add",
  toolset: "write",
  input: {
    branch_name: z.string().describe("Name, e.g. fix/login."),
    base_branch: option("Where it starts. Default: HEAD."),
  },
  output: z.object({ branch: z.string(), commit: z.string(), base: z.string() }),
  run: createBranch,
});
