import { isLong } from "../../../vitest.long.ts";
import { testAttacks } from "./attacks.ts";
import { ALL_CALLS, callOf } from "./matrix.ts";
import { VECTORS } from "./vectors.ts";

/** One trap for each mechanism by which a repository makes git run a program. */
const TRAPS: ReadonlySet<string> = new Set([
  "core.fsmonitor in config.worktree",
  "hooks",
  "textconv",
  "clean and smudge filter",
  "filter through includeIf onbranch",
  "gpg.program with commit.gpgSign",
  "merge driver",
  "branch.mergeOptions",
  "editor and sequence editor",
  "pager and aliases",
  "configuration of a submodule",
  "promisor remote with uploadpack",
  "core.alternateRefsCommand",
  "remote uploadpack, receivepack and ssh",
  "url.insteadOf ext::",
  "credential.helper",
]);

const TOOLS = ["diff", "add", "commit", "checkout", "merge", "stash", "fetch", "status"];

if (isLong) testAttacks(VECTORS, ALL_CALLS, { timeout: 1_200_000 });
else
  testAttacks(
    VECTORS.filter(({ name }) => TRAPS.has(name)),
    [
      ...TOOLS.map((name) => callOf(`git_${name}`)),
      { tool: "git_show", args: { revision: "partial" } },
      { tool: "git_fetch", args: { remote: "login" } },
      { tool: "git_fetch", args: { remote: "ssh" } },
    ],
  );
