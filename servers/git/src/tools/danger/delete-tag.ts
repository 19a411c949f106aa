import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { destroyed } from "../../repository/change/confirm-loss.ts";
import { deleteTag } from "../../repository/change/destroy-commits.ts";

export default tool({
  name: "git_delete_tag",
  title: "Delete a tag",
  description: "Delete a local tag. Asks, and keeps a recovery ref.",
  effect: "destroy",
  openWorld: false,
  toolset: "danger",
  input: z.strictObject({
    repo_path: repoPath,
    tag_name: z.string().min(1).max(250).describe("The tag to delete."),
  }),
  output: destroyed,
  run: ({ repo_path, tag_name }, git, call) =>
    git.change(repo_path, call.signal, (repository) => deleteTag(repository, tag_name, call)),
});
