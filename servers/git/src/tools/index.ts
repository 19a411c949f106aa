// Written by `pnpm generate`.
import add from "./add.ts";
import blame from "./blame.ts";
import branch from "./branch.ts";
import checkout from "./checkout.ts";
import cherryPick from "./cherry-pick.ts";
import clean from "./clean.ts";
import clone from "./clone.ts";
import commit from "./commit.ts";
import createBranch from "./create-branch.ts";
import createTag from "./create-tag.ts";
import diff from "./diff.ts";
import diffStaged from "./diff-staged.ts";
import diffUnstaged from "./diff-unstaged.ts";
import fetch from "./fetch.ts";
import gitDelete from "./git-delete.ts";
import grep from "./grep.ts";
import init from "./init.ts";
import listFiles from "./list-files.ts";
import listRefs from "./list-refs.ts";
import log from "./log.ts";
import merge from "./merge.ts";
import pull from "./pull.ts";
import push from "./push.ts";
import pushForceWithLease from "./push-force-with-lease.ts";
import rebase from "./rebase.ts";
import reflog from "./reflog.ts";
import reset from "./reset.ts";
import resetHard from "./reset-hard.ts";
import restore from "./restore.ts";
import revert from "./revert.ts";
import setRemote from "./set-remote.ts";
import show from "./show.ts";
import stash from "./stash.ts";
import stashApply from "./stash-apply.ts";
import status from "./status.ts";
import worktreeAdd from "./worktree-add.ts";

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
  diff,
  diffStaged,
  diffUnstaged,
  fetch,
  gitDelete,
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
  reset,
  resetHard,
  restore,
  revert,
  setRemote,
  show,
  stash,
  stashApply,
  status,
  worktreeAdd,
];
