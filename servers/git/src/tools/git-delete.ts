import * as z from "zod";
import { option, skipHooks, changeTool as tool } from "../context.ts";
import { deleteRef, dropStash, removeWorktree } from "../git/change/destroy.ts";
import { destroyed } from "../git/change/recovery.ts";
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
    name: z.string().min(1).max(4_000).describe("Name, stash@{0}, or a worktree's directory."),
    remote: option("Delete the branch on this remote. Default: the local branch."),
    skip_hooks: skipHooks,
  },
  output: destroyed,
  async run(repository, { kind, name, remote, skip_hooks }, call, git) {
    if (remote !== undefined && kind !== "branch")
      throw failure("bad_argument", "remote applies to branches only.", { hint: "Omit remote." });
    if (kind === "worktree") return removeWorktree(repository, name, call, git);
    if (kind === "stash") return dropStash(repository, name, call);
    if (kind === "tag") return deleteRef(repository, "tags", name, call);
    if (remote === undefined) return deleteRef(repository, "heads", name, call);
    return deleteRemoteBranch(repository, { remote, branch_name: name, skip_hooks }, call);
  },
});
