import { isLong } from "../../../vitest.long.ts";
import { tools } from "../src/tools/index.ts";
import { testAttacks } from "./attacks.ts";
import { EVERYTHING } from "./bases.ts";
import { callOf } from "./matrix.ts";
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

const TOOLS = [
  "git_diff",
  "git_add",
  "git_commit",
  "git_checkout",
  "git_merge",
  "git_stash",
  "git_fetch",
];

testAttacks(
  isLong
    ? {
        vectors: VECTORS,
        calls: [...tools.map(({ name }) => callOf(name)), ...(EVERYTHING.calls ?? [])],
        timeout: 1_200_000,
      }
    : {
        vectors: VECTORS.filter(({ name }) => TRAPS.has(name)),
        calls: [
          ...TOOLS.map(callOf),
          { tool: "git_status", args: {} },
          { tool: "git_show", args: { revision: "partial:gone.txt" } },
          { tool: "git_fetch", args: { remote: "login" } },
          { tool: "git_fetch", args: { remote: "ssh" } },
        ],
      },
);
