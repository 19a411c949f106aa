// Written by `pnpm generate`.
import clean from "./danger/clean.ts";
import deleteBranch from "./danger/delete-branch.ts";
import deleteTag from "./danger/delete-tag.ts";
import dropStash from "./danger/drop-stash.ts";
import pushForceWithLease from "./danger/push-force-with-lease.ts";
import rebase from "./danger/rebase.ts";
import resetHard from "./danger/reset-hard.ts";
import worktreeRemove from "./danger/worktree-remove.ts";
import cherryPick from "./extra/cherry-pick.ts";
import createTag from "./extra/create-tag.ts";
import init from "./extra/init.ts";
import reflog from "./extra/reflog.ts";
import renameBranch from "./extra/rename-branch.ts";
import revert from "./extra/revert.ts";
import rewrite from "./extra/rewrite.ts";
import worktreeAdd from "./extra/worktree-add.ts";
import blame from "./read/blame.ts";
import branch from "./read/branch.ts";
import diff from "./read/diff.ts";
import diffStaged from "./read/diff-staged.ts";
import diffUnstaged from "./read/diff-unstaged.ts";
import grep from "./read/grep.ts";
import listFiles from "./read/list-files.ts";
import listRefs from "./read/list-refs.ts";
import log from "./read/log.ts";
import show from "./read/show.ts";
import status from "./read/status.ts";
import clone from "./remote/clone.ts";
import fetch from "./remote/fetch.ts";
import pull from "./remote/pull.ts";
import push from "./remote/push.ts";
import setRemote from "./remote/set-remote.ts";
import add from "./write/add.ts";
import checkout from "./write/checkout.ts";
import commit from "./write/commit.ts";
import createBranch from "./write/create-branch.ts";
import merge from "./write/merge.ts";
import reset from "./write/reset.ts";
import restore from "./write/restore.ts";
import stash from "./write/stash.ts";
import stashApply from "./write/stash-apply.ts";

export const tools = [
  add,
  blame,
  branch,
  checkout,
  cherryPick,
  clean,
  clone,
  commit,
  createBranch,
  createTag,
  deleteBranch,
  deleteTag,
  diff,
  diffStaged,
  diffUnstaged,
  dropStash,
  fetch,
  grep,
  init,
  listFiles,
  listRefs,
  log,
  merge,
  pull,
  push,
  pushForceWithLease,
  rebase,
  reflog,
  renameBranch,
  reset,
  resetHard,
  restore,
  revert,
  rewrite,
  setRemote,
  show,
  stash,
  stashApply,
  status,
  worktreeAdd,
  worktreeRemove,
];
