import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { answer, repoPath, tool } from "../../context.ts";
import { checkout, switched } from "../../repository/change/switch.ts";

export default tool({
  name: "git_checkout",
  title: "Switch branches",
  description: "Switch to a branch, a remote's branch, or a commit. For files call git_restore.",
  effect: "change",
  openWorld: false,
  toolset: "write",
  idempotent: true,
  input: z.strictObject({
    repo_path: repoPath,
    branch_name: z.string().describe("Branch, tag or commit."),
  }),
  output: switched,
  run: ({ repo_path, branch_name }, git, call) =>
    git.change(repo_path, call.signal, async (repository) => {
      const done = await checkout(git, repository, branch_name, call);
      const first =
        done.branch === undefined
          ? `HEAD is now detached at ${done.commit?.slice(0, 10)}`
          : `Switched to branch '${oneLine(branch_name)}'`;
      return answer(first, done);
    }),
});
