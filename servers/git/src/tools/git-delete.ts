import * as z from "zod";
import { skipHooks, changeTool as tool } from "../context.ts";
import { deleteBranch, deleteTag, dropStash } from "../git/change/destroy.ts";
import { destroyed } from "../git/change/recovery.ts";
import { removeWorktree } from "../git/change/worktrees.ts";
import { deleteRemoteBranch } from "../git/remote/force.ts";
import { failure } from "../git/run/errors.ts";

export default tool({
  name: "git_delete",
  title: "Delete a branch, tag, stash or worktree",
  description:
    "Delete a branch (here or on a remote), a tag, a stash or a linked worktree. Shows what is lost, asks, and keeps it for recovery.",
  effect: "destroy",
  openWorld: true,
  toolset: "danger",
  input: {
    kind: z
      .enum(["branch", "tag", "stash", "worktree"])
      .describe("A branch, tag, stash or worktree."),
    name: z
      .string()
      .min(1)
      .max(4_000)
      .optional()
      .describe(
        "Its name, or a worktree's directory; without one, stash@{0} or missing worktrees.",
      ),
    remote: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe("Delete the branch on this remote. Default: here."),
    skip_hooks: skipHooks,
  },
  output: destroyed,
  async run(repository, { kind, name, remote, skip_hooks }, call, git) {
    if (remote !== undefined && kind !== "branch")
      throw failure("bad_argument", "remote applies to branches only.", { hint: "Omit remote." });
    if (kind === "worktree") return removeWorktree(repository, name, call, git);
    if (kind === "stash") return dropStash(repository, name ?? "stash@{0}", call);
    if (name === undefined)
      throw failure("bad_argument", "name is missing.", { hint: `Pass the name of the ${kind}.` });
    if (kind === "tag") return deleteTag(repository, name, call);
    if (remote === undefined) return deleteBranch(repository, name, call);
    return deleteRemoteBranch(repository, { remote, branch_name: name, skip_hooks }, call);
  },
});
