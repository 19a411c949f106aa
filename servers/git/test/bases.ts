import type { Base } from "./matrix.ts";
import { alternate, missingBlob, submodule } from "./traps.ts";

/** A partial clone, and calls of every kind that need the missing object. */
export const PARTIAL: Base = {
  name: "partial",
  build: missingBlob,
  calls: [
    { tool: "git_show", args: { revision: "partial:gone.txt" } },
    { tool: "git_show", args: { revision: "partial" } },
    { tool: "git_diff", args: { target: "v1.0..partial" } },
    { tool: "git_log", args: { revision: "partial", pickaxe: "x" } },
    { tool: "git_grep", args: { pattern: "x", revision: "partial" } },
    { tool: "git_blame", args: { path: "gone.txt", revision: "partial" } },
    { tool: "git_checkout", args: { branch_name: "partial" } },
    { tool: "git_restore", args: { files: ["gone.txt"], source: "partial" } },
    { tool: "git_merge", args: { revision: "partial" } },
    { tool: "git_cherry_pick", args: { commits: ["partial"] } },
    { tool: "git_rebase", args: { onto: "partial" } },
    { tool: "git_worktree_add", args: { path: "twin", branch_name: "partial" } },
    { tool: "git_reset_hard", args: { revision: "partial" } },
    { tool: "git_push", args: { branch_name: "partial" } },
  ],
};
/** A checked-out submodule with a change in it. */
export const SUBMODULE: Base = { name: "submodule", build: submodule };
/** Objects are borrowed from a sibling repository. */
export const BORROWING: Base = { name: "borrowing", build: alternate };
/** The remote requires a login, and the user has a credential helper. */
export const BEHIND_LOGIN: Base = { name: "login", transport: "login" };
/** The same for a user who cannot log in. */
export const LOCKED: Base = { name: "locked", transport: "locked" };
/** The remote is reached with the ssh command in the user's configuration. */
export const OVER_SSH: Base = { name: "ssh", transport: "ssh" };

/** All of that in one repository, with a remote of each kind. */
export const EVERYTHING: Base = {
  name: "everything",
  remotes: true,
  build(root) {
    missingBlob(root);
    submodule(root);
    alternate(root);
  },
  calls: [
    ...(PARTIAL.calls ?? []),
    { tool: "git_log", args: { format: "stat", max_count: 30 } },
    { tool: "git_log", args: { path: "src/app.ts", lines: "1,3" } },
    { tool: "git_log", args: { path: "src/util.ts", lines: "let" } },
    { tool: "git_blame", args: { path: "src/app.ts", start_line: 2 } },
    ...["login", "locked", "ssh"].map((remote) => ({ tool: "git_fetch", args: { remote } })),
    { tool: "git_push", args: { remote: "ssh" } },
    // What a kept process, its configuration and its refs answer.
    { tool: "git_log", args: { max_count: 50 } },
    { tool: "git_log", args: { path: "src/app.ts", lines: "1,5" } },
    { tool: "git_show", args: { revision: "HEAD:src/app.ts" } },
    { tool: "git_show", args: { revision: "HEAD:src" } },
    { tool: "git_show", args: { revision: "v1.0" } },
    { tool: "git_branch", args: { branch_type: "all", contains: "v0.9" } },
    { tool: "git_delete", args: { kind: "branch", name: "feature", remote: "origin" } },
    { tool: "git_fetch", args: { prune: true } },
    { tool: "git_rebase", args: { onto: "feature", on_conflict: "keep" } },
    { tool: "git_merge", args: { revision: "feature", fast_forward: "never" } },
    { tool: "git_delete", args: { kind: "tag", name: "v0.9" } },
    { tool: "git_delete", args: { kind: "stash", name: "stash@{0}" } },
    { tool: "git_delete", args: { kind: "worktree", name: "linked" } },
    { tool: "git_reset", args: { revision: "v0.9", mode: "soft" } },
    { tool: "git_rebase", args: { branch_name: "feature", onto: "main" } },
    { tool: "git_stash_apply", args: { drop: true } },
    // Ids of the changes that makeDirty makes.
    { tool: "git_add", args: { hunks: ["2e281dc"] } },
    { tool: "git_reset", args: { hunks: ["f159d8c"] } },
  ],
};
