import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { answer, repoPath, tool } from "../../context.ts";
import { createBranch } from "../../repository/change/switch.ts";

export default tool({
  name: "git_create_branch",
  title: "Create a branch",
  description: "Create a branch at HEAD or another commit, without switching to it.",
  effect: "add",
  openWorld: false,
  toolset: "write",
  input: z.strictObject({
    repo_path: repoPath,
    branch_name: z.string().min(1).max(250).describe("Name of the new branch."),
    base_branch: z.string().optional().describe("Starting point. Default: HEAD."),
  }),
  output: z.object({ branch: z.string(), commit: z.string(), base: z.string() }),
  run: ({ repo_path, branch_name, base_branch }, git, call) =>
    git.change(repo_path, call.signal, async (repository) => {
      const made = await createBranch(repository, branch_name, base_branch);
      return answer(`Created branch '${made.branch}' from '${oneLine(made.base)}'`, made);
    }),
});
