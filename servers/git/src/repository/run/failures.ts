import { type ErrorKind, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { GitResult } from "./run-git.ts";

/** A failure recognized by git's message, and the error that replaces it. */
interface Failure {
  readonly pattern: RegExp;
  readonly kind: ErrorKind;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** The first match counts. git's messages are in English (LC_ALL=C) and never passed on. */
const FAILURES: readonly Failure[] = [
  {
    pattern: /detected dubious ownership/,
    kind: "denied",
    code: "dubious_ownership",
    message: "The repository is owned by another user of this machine.",
    hint: "To trust it, the user runs: git config --global --add safe.directory <directory>.",
  },
  {
    pattern:
      /Unable to create '.*\.lock': File exists|could not lock config file|cannot lock ref .* File exists/,
    kind: "conflict",
    code: "locked",
    message: "Another git process holds a lock on this repository.",
    hint: "Try again in a moment. If no git process is running, the user can remove the leftover .lock file from the git directory.",
  },
  {
    pattern:
      /index file (corrupt|smaller than expected)|bad signature 0x|bad index file sha1|index file open failed|unable to map index/i,
    kind: "unavailable",
    code: "corrupt_index",
    message: "The repository's index file is damaged.",
    hint: "Commits are safe: git_log and git_show work. The user can move .git/index away and run git reset.",
  },
  {
    pattern:
      /Author identity unknown|empty ident name|unable to auto-detect email|Committer identity unknown/,
    kind: "unavailable",
    code: "identity_missing",
    message: "git has no author identity for the commit.",
    hint: "The user can set user.name and user.email (git config --global user.name …), or pass author.",
  },
  {
    pattern:
      /gpg failed to sign|failed to sign|cannot run gpg|No private key|secret key not available|user\.signingkey needs to be set/i,
    kind: "unavailable",
    code: "signing_failed",
    message: "Signing failed.",
    hint: "The user can check user.signingKey and that the agent has the key. Or omit sign.",
  },
  {
    pattern:
      /You have not concluded your (merge|cherry-pick)|cannot switch branch while|cherry-pick or revert is already in progress|already in progress|rebase in progress|Exiting because of unfinished merge|is not possible because you have unmerged files/,
    kind: "conflict",
    code: "operation_in_progress",
    message: "The repository is in the middle of a merge, rebase, cherry-pick or revert.",
    hint: "git_status shows it. Resolve the conflicts, git_add the files and git_commit, or call git_merge with action: abort.",
  },
  {
    pattern:
      /Your local changes to the following files would be overwritten|local changes? (to|would be)|cannot rebase: You have unstaged|Please commit your changes or stash them|contains? uncommitted changes|would be overwritten by (merge|checkout|reset)/i,
    kind: "conflict",
    code: "local_changes",
    message: "Local changes would be overwritten.",
    hint: "Commit them with git_commit or stash them with git_stash, then try again.",
  },
  {
    pattern: /pathspec .* did not match|did not match any file/,
    kind: "not_found",
    code: "bad_path",
    message: "git does not know one of the paths.",
    hint: "git_status and git_list_files show the paths; they are relative to the repository's root.",
  },
  {
    pattern: /is already checked out at|is already used by worktree/,
    kind: "conflict",
    code: "branch_in_use",
    message: "The branch is checked out in another worktree.",
    hint: "git_list_refs with kind worktrees shows where. Work there, or create another branch.",
  },
  {
    pattern:
      /missing blob|(unable to read|cannot read) (tree|blob|sha1|object|[0-9a-f]{7})|bad object|could not (fetch|get) .* from promisor|promisor|transport '.*' not allowed|loose object .* is corrupt|object file .* is empty|invalid object/i,
    kind: "unavailable",
    code: "missing_object",
    message: "A required object is missing from the repository (a partial clone, or damage).",
    hint: "Missing objects are not fetched automatically: the user can run git fetch, or git fsck to check for damage.",
  },
  {
    pattern: /No space left on device/,
    kind: "unavailable",
    code: "no_space",
    message: "The disk is full.",
    hint: "Free some space, then try again.",
  },
  {
    pattern: /Permission denied|Read-only file system/,
    kind: "denied",
    code: "no_permission",
    message: "The system denied git permission to read or write.",
    hint: "Check the owner and the permissions of the repository's files.",
  },
  {
    pattern:
      /bad config|bad numeric config|invalid config|unknown repository extension|Expected git repo version/,
    kind: "unavailable",
    code: "bad_config",
    message: "git cannot read the repository's configuration.",
    hint: "The user should check .git/config; its extensions may need a newer git.",
  },
];

/**
 * The error for a failed git command. git's message goes only to the log, because a repository can put text into it.
 *
 * @param doing completes "git could not …": `read the log`
 */
export function failureOf(result: GitResult, doing: string): ToolError {
  const found = FAILURES.find(({ pattern }) => pattern.test(result.stderr));
  const cause = result.stderr.trim();
  if (found !== undefined) {
    const { kind, code, message, hint } = found;
    return new ToolError(kind, message, { code, hint, cause });
  }
  return new ToolError("unavailable", `git could not ${doing} (exit code ${result.code}).`, {
    code: "git_failed",
    hint: "git_status shows the state of the repository. With --log-level debug the server's stderr shows git's output.",
    cause,
  });
}

/** The error for a cursor whose list is no longer the same. */
export function staleCursor(message: string): ToolError {
  return new ToolError("conflict", message, { code: "stale_cursor", hint: "Call again without cursor." });
}

/** The error for an unknown revision. */
export function badRevision(revision: string, near: readonly string[] = []): ToolError {
  const shown = oneLine(revision.length > 200 ? `${revision.slice(0, 200)}…` : revision);
  const guess = near.length === 0 ? "" : ` Did you mean ${near.map(oneLine).join(" or ")}?`;
  return new ToolError("not_found", `No commit or object matches "${shown}".${guess}`, {
    code: "bad_revision",
    hint: "git_branch and git_list_refs show names, git_log shows commits; HEAD~2, v1.0 and abc1234 are valid forms.",
  });
}
