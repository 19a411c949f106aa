// Daily tasks with a clone of git/git. Each has what is prepared, how a server does it with the fewest calls, and what must be
// true then: in the repository, or in all that the model has read.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** @typedef {import("../../../../scripts/lib/daily-kit.mjs").Agent} Agent */
/** @typedef {[tool: string, args: object][] | ((agent: Agent, world: World) => Promise<unknown>)} Solve */
/**
 * @typedef {{
 *   name: string,
 *   given?: (world: World) => Promise<unknown>,
 *   cyanheads?: Solve,
 *   ours?: Solve,
 *   check: (world: World, read: string) => boolean | Promise<boolean>,
 * }} Task
 */

export const START = "v2.50.0";
const FILE = "builtin/stash.c";

/** The repository of one task. */
export class World {
  /** @param {string} root @param {NodeJS.ProcessEnv} env */
  constructor(root, env) {
    this.root = root;
    this.env = env;
  }

  /** What git prints, with any exit code. @param {string[]} args */
  async git(...args) {
    const options = { cwd: this.root, env: this.env, maxBuffer: 1e8 };
    const { stdout } = await promisify(execFile)("git", args, options).catch((error) => error);
    return String(stdout).trim();
  }

  /** @param {string} file @param {(text: string) => string} change */
  async edit(file, change) {
    const path = join(this.root, file);
    await writeFile(path, change(await readFile(path, "utf8").catch(() => "")));
  }

  /** A commit that changes one file. @param {string} message @param {string} file @param {(text: string) => string} change */
  async commit(message, file, change) {
    await this.edit(file, change);
    await this.git("add", file);
    await this.git("commit", "-qm", message);
    return this.git("rev-parse", "HEAD");
  }

  /** The subjects since the start, oldest first, separated by "|". @param {string} tip */
  async subjects(tip = "HEAD") {
    return (await this.git("log", "--reverse", "--format=%s", `${START}..${tip}`)).replaceAll(
      "\n",
      "|",
    );
  }
}

/** @param {string} line */
const append = (line) => (/** @type {string} */ text) => `${text}${line}\n`;
/** @param {string | RegExp} from @param {string} to */
const replace = (from, to) => (/** @type {string} */ text) => text.replace(from, to);
/** Two edits far from each other in one file. @param {World} world */
const twoHunks = (world) =>
  world.edit(
    FILE,
    (text) => `/* top */\n${text.replace('"git stash clear"', '"git stash clear all"')}`,
  );
/** Commits a, b, c and d, each to its own file. @param {World} world */
const series = async (world) => {
  for (const name of "abcd") await world.commit(name, `${name}.txt`, append(name));
};
/** A branch `topic` and main that change the same line. @param {World} world */
const conflict = async (world) => {
  await world.git("checkout", "-qb", "topic");
  await world.commit("theirs", "GIT-VERSION-GEN", replace("v2.50.0", "v2.50.1.topic"));
  await world.git("checkout", "-q", "main");
  await world.commit("ours", "GIT-VERSION-GEN", replace("v2.50.0", "v2.51.0.main"));
};
/** @param {World} world */
const solve = (world) =>
  world.edit(
    "GIT-VERSION-GEN",
    replace(/<<<<<<<[\s\S]*?>>>>>>> [^\n]*\n/, "DEF_VER=v2.51.0.both\n"),
  );

/** A preview, then its plan applied. @param {object[]} steps @returns {Solve} */
const rewriteWith = (steps) => async (agent) => {
  const preview = await agent.call("git_rebase", { steps });
  const [, plan] = /"plan":"([^"]+)"/.exec(preview) ?? [];
  await agent.call("git_rebase", { apply: plan });
};

/** @type {Task[]} */
export const tasks = [
  {
    name: "what has changed in the working tree",
    given: async (world) => {
      await twoHunks(world);
      await world.edit("new.txt", append("x"));
      await world.edit("Makefile", append("# x"));
      await world.git("add", "Makefile");
    },
    cyanheads: [["git_status", {}]],
    ours: [["git_status", {}]],
    check: (_, read) => ["Makefile", FILE, "new.txt"].every((name) => read.includes(name)),
  },
  {
    name: "the last 50 commits",
    cyanheads: [["git_log", { maxCount: 50, oneline: true }]],
    ours: [["git_log", { max_count: 50 }]],
    check: async (world, read) =>
      (await world.git("log", "-50", "--format=%s"))
        .split("\n")
        .every((line) => read.includes(line)),
  },
  {
    name: "the last ten commits with authors and messages",
    cyanheads: [["git_log", { maxCount: 10 }]],
    ours: [["git_log", { max_count: 10, format: "full" }]],
    check: async (world, read) =>
      (await world.git("log", "-10", "--format=%an"))
        .split("\n")
        .every((name) => read.includes(name)),
  },
  {
    name: "commits that changed a file since 2024",
    cyanheads: [["git_log", { filePath: FILE, since: "2024-01-01", maxCount: 30, oneline: true }]],
    ours: [["git_log", { path: FILE, start_timestamp: "2024-01-01", max_count: 30 }]],
    check: async (world, read) =>
      (await world.git("log", "--since=2024-01-01", "-30", "--format=%s", "--", FILE))
        .split("\n")
        .every((line) => read.includes(line)),
  },
  {
    name: "who wrote lines 60 to 80",
    cyanheads: [["git_blame", { filePath: FILE, startLine: 60, endLine: 80 }]],
    ours: [["git_blame", { path: FILE, start_line: 60, end_line: 80 }]],
    // Not only the first line of each commit.
    check: async (world, read) =>
      (await world.git("show", `HEAD:${FILE}`))
        .split("\n")
        .slice(59, 80)
        .every((line) => read.includes(line.trim())) && read.includes("951ec747"),
  },
  {
    name: "why is this line here",
    cyanheads: [
      ["git_blame", { filePath: FILE, startLine: 1600, endLine: 1601 }],
      ["git_show", { object: "d553f538b8" }],
    ],
    ours: [["git_log", { path: FILE, lines: "1600,1601", max_count: 1 }]],
    check: (_, read) => read.includes("stash: convert push to builtin"),
  },
  {
    name: "the history of a function",
    ours: [["git_log", { path: FILE, lines: "1526,1560", max_count: 5 }]],
    check: async (world, read) =>
      (await world.git("log", "-5", "-s", "--format=%s", `-L1526,1560:${FILE}`))
        .split("\n")
        .every((line) => read.includes(line)),
  },
  {
    name: "a commit's message and changes",
    cyanheads: [["git_show", { object: "5acfacc2a1" }]],
    ours: [["git_show", { revision: "5acfacc2a1" }]],
    check: (_, read) => read.includes("portability fixes") && read.includes("@@"),
  },
  {
    name: "a part of a file at an old release",
    cyanheads: [["git_show", { object: "v2.20.0", filePath: "git-stash.sh" }]],
    ours: [["git_show", { revision: "v2.20.0:git-stash.sh", start_line: 1, end_line: 40 }]],
    check: (_, read) => read.includes("OPTIONS_SPEC"),
  },
  {
    name: "how large the change between two releases is",
    cyanheads: [["git_diff", { source: "v2.49.0", target: "v2.50.0", stat: true }]],
    ours: [["git_diff", { target: "v2.49.0..v2.50.0", format: "stat" }]],
    // With copies detected (git diff -C), as ours does, or without.
    check: (_, read) => /711/.test(read) && /55[,.]?899|33[,.]?282/.test(read),
  },
  {
    name: "review a branch",
    given: async (world) => {
      await world.git("checkout", "-qb", "topic");
      await world.commit("Say all", FILE, replace('"git stash clear"', '"git stash clear all"'));
      await world.commit("Add a note", "notes.txt", append("note"));
      await world.git("checkout", "-q", "main");
    },
    cyanheads: [
      ["git_log", { branch: "main..topic" }],
      ["git_diff", { source: "main", target: "topic" }],
    ],
    ours: [
      ["git_log", { revision: "main..topic" }],
      ["git_diff", { target: "main...topic" }],
    ],
    check: (_, read) => ["Say all", "Add a note", "+note"].every((part) => read.includes(part)),
  },
  {
    name: "the commit that brought a string in",
    ours: [["git_log", { path: FILE, pickaxe: "reset_tree", max_count: 20 }]],
    check: (_, read) => read.includes("stash: convert `stash--helper.c` into"),
  },
  {
    name: "search the sources",
    ours: [["git_grep", { pattern: "do_push_stash", limit: 30 }]],
    check: (_, read) => read.includes("static int do_push_stash"),
  },
  {
    name: "the newest releases",
    cyanheads: [["git_tag", { mode: "list", limit: 20 }]],
    ours: [["git_list_refs", { kind: "tags", limit: 20 }]],
    check: (_, read) => read.includes("v2.55"),
  },
  {
    name: "the release that a commit came with",
    ours: [["git_list_refs", { kind: "tags", contains: "5acfacc2a1", limit: 5 }]],
    check: (_, read) => read.includes("v2.50.0"),
  },
  {
    name: "which branches exist",
    cyanheads: [["git_branch", { mode: "list", all: true }]],
    ours: [["git_branch", { branch_type: "all" }]],
    check: (_, read) => ["main", "origin/next", "origin/seen"].every((name) => read.includes(name)),
  },
  {
    name: "find a commit that was reset away, and get it back",
    given: async (world) => {
      await world.commit("precious", "precious.txt", append("x"));
      await world.git("reset", "-q", "--hard", "HEAD~1");
    },
    async cyanheads(agent) {
      await agent.call("git_reflog", { maxCount: 5 });
      await agent.call("git_branch", {
        mode: "create",
        branchName: "saved",
        startPoint: "HEAD@{1}",
      });
    },
    async ours(agent) {
      await agent.call("git_reflog", { limit: 5 });
      await agent.call("git_create_branch", { branch_name: "saved", base_branch: "HEAD@{1}" });
    },
    check: async (world) => (await world.git("log", "-1", "--format=%s", "saved")) === "precious",
  },
  {
    name: "commit everything",
    given: twoHunks,
    cyanheads: [["git_commit", { message: "All", filesToStage: [FILE] }]],
    ours: [["git_commit", { message: "All", files: [FILE] }]],
    check: async (world) =>
      (await world.subjects()) === "All" && (await world.git("status", "--short")) === "",
  },
  {
    name: "commit one of two files",
    given: async (world) => {
      await twoHunks(world);
      await world.edit("Makefile", append("# x"));
    },
    cyanheads: [["git_commit", { message: "One", filesToStage: ["Makefile"] }]],
    ours: [["git_commit", { message: "One", files: ["Makefile"] }]],
    check: async (world) =>
      (await world.git("show", "--format=%s", "--name-only")) === "One\n\nMakefile",
  },
  {
    name: "commit one of two hunks",
    given: twoHunks,
    async ours(agent) {
      const diff = await agent.call("git_diff_unstaged", { context_lines: 1 });
      const [, id] =
        /\[([0-9a-f]{7}(?:u1)?)\][\s\S]*?clear all/.exec(diff.slice(diff.indexOf("top */"))) ?? [];
      await agent.call("git_add", { hunks: [id] });
      await agent.call("git_commit", { message: "Hunk" });
    },
    check: async (world) =>
      (await world.git("show", "HEAD", "--format=%s", "--numstat")) === `Hunk\n\n1\t1\t${FILE}` &&
      (await world.git("diff", "--numstat")) === `1\t0\t${FILE}`,
  },
  {
    name: "correct the last message",
    given: series,
    cyanheads: [["git_commit", { message: "d, corrected", amend: true }]],
    ours: [["git_commit", { message: "d, corrected", amend: true }]],
    check: async (world) => (await world.subjects()) === "a|b|c|d, corrected",
  },
  {
    name: "unstage a file",
    given: async (world) => {
      await twoHunks(world);
      await world.git("add", FILE);
    },
    cyanheads: [["git_reset", { paths: [FILE] }]],
    ours: [["git_reset", { files: [FILE] }]],
    check: async (world) => (await world.git("diff", "--cached", "--name-only")) === "",
  },
  {
    name: "discard the changes of a file",
    given: twoHunks,
    cyanheads: [["git_checkout", { paths: [FILE], target: "HEAD" }]],
    ours: [["git_restore", { files: [FILE] }]],
    check: async (world) => (await world.git("status", "--short")) === "",
  },
  {
    name: "start a branch",
    cyanheads: [["git_checkout", { target: "topic", createBranch: true }]],
    ours: [["git_checkout", { branch_name: "topic", create: true }]],
    check: async (world) => (await world.git("branch", "--show-current")) === "topic",
  },
  {
    name: "merge a branch",
    given: async (world) => {
      await world.git("checkout", "-qb", "topic");
      await world.commit("topic", "t.txt", append("t"));
      await world.git("checkout", "-q", "main");
      await world.commit("main", "m.txt", append("m"));
    },
    cyanheads: [["git_merge", { branch: "topic" }]],
    ours: [["git_merge", { revision: "topic" }]],
    check: async (world) => (await world.git("log", "-1", "--format=%p")).split(" ").length === 2,
  },
  {
    name: "merge with a conflict",
    given: conflict,
    async cyanheads(agent, world) {
      await agent.try("git_merge", { branch: "topic" });
      await agent.call("git_diff", {});
      await solve(world);
      await agent.call("git_commit", { message: "Merge topic", filesToStage: ["GIT-VERSION-GEN"] });
    },
    async ours(agent, world) {
      await agent.try("git_merge", { revision: "topic", on_conflict: "keep" });
      await solve(world);
      await agent.call("git_add", { files: ["GIT-VERSION-GEN"] });
      await agent.call("git_merge", { action: "continue" });
    },
    check: async (world, read) =>
      (await world.git("log", "-1", "--format=%p")).split(" ").length === 2 &&
      /v2\.50\.1\.topic/.test(read),
  },
  {
    name: "give a merge up",
    given: async (world) => {
      await conflict(world);
      await world.git("merge", "topic");
    },
    cyanheads: [["git_merge", { branch: "topic", abort: true }]],
    ours: [["git_merge", { action: "abort" }]],
    check: async (world) => (await world.git("status", "--short")) === "",
  },
  {
    name: "stash the work and take it back",
    given: twoHunks,
    cyanheads: [
      ["git_stash", { mode: "push", message: "mine" }],
      ["git_stash", { mode: "pop" }],
    ],
    ours: [
      ["git_stash", { message: "mine" }],
      ["git_stash_apply", {}],
    ],
    check: async (world) => (await world.git("diff", "--numstat")) === `2\t1\t${FILE}`,
  },
  {
    name: "stash all but what is staged",
    given: async (world) => {
      await twoHunks(world);
      await world.edit("Makefile", append("# x"));
      await world.git("add", "Makefile");
    },
    cyanheads: [["git_stash", { mode: "push", keepIndex: true }]],
    ours: [["git_stash", { keep_index: true }]],
    check: async (world) => (await world.git("status", "--short")) === "M  Makefile".trim(),
  },
  {
    name: "take over a commit",
    given: async (world) => {
      await world.git("checkout", "-qb", "topic");
      await world.commit("wanted", "w.txt", append("w"));
      await world.git("checkout", "-q", "main");
    },
    cyanheads: [["git_cherry_pick", { commits: ["topic"] }]],
    ours: [["git_cherry_pick", { commits: ["topic"] }]],
    check: async (world) => (await world.subjects()) === "wanted",
  },
  {
    name: "revert a commit",
    given: series,
    ours: [["git_revert", { commit: "HEAD~1" }]],
    check: async (world) => (await world.git("ls-files", "c.txt")) === "",
  },
  {
    name: "take the last three commits back, keeping the files staged",
    given: series,
    cyanheads: [["git_reset", { mode: "soft", target: "HEAD~3" }]],
    ours: [["git_reset", { revision: "HEAD~3", mode: "soft" }]],
    check: async (world) =>
      (await world.git("diff", "--cached", "--name-only")).split("\n").length === 3,
  },
  {
    name: "squash the last three commits",
    given: series,
    cyanheads: [
      ["git_reset", { mode: "soft", target: "HEAD~3" }],
      ["git_commit", { message: "b to d" }],
    ],
    ours: [
      ["git_reset", { revision: "HEAD~3", mode: "soft" }],
      ["git_commit", { message: "b to d" }],
    ],
    check: async (world) => (await world.subjects()) === "a|b to d",
  },
  {
    name: "correct the message of an older commit",
    given: series,
    ours: rewriteWith([
      { commit: "HEAD~2", action: "reword", message: "b, corrected" },
      { commit: "HEAD~1", action: "pick" },
      { commit: "HEAD", action: "pick" },
    ]),
    check: async (world) => (await world.subjects()) === "a|b, corrected|c|d",
  },
  {
    name: "drop a commit in the middle",
    given: series,
    ours: rewriteWith([
      { commit: "HEAD~2", action: "drop" },
      { commit: "HEAD~1", action: "pick" },
      { commit: "HEAD", action: "pick" },
    ]),
    check: async (world) =>
      (await world.subjects()) === "a|c|d" && (await world.git("ls-files", "b.txt")) === "",
  },
  {
    name: "put a correction into an older commit",
    given: async (world) => {
      await series(world);
      await world.commit("fix b", "b.txt", append("b, corrected"));
    },
    ours: rewriteWith(
      ["HEAD~3", "HEAD", "HEAD~2", "HEAD~1"].map((commit, at) => ({
        commit,
        action: at === 1 ? "fixup" : "pick",
      })),
    ),
    check: async (world) =>
      (await world.subjects()) === "a|b|c|d" &&
      (await world.git("show", "HEAD~2:b.txt")) === "b\nb, corrected",
  },
  {
    name: "change the order of two commits",
    given: series,
    ours: rewriteWith(["HEAD~1", "HEAD~2", "HEAD"].map((commit) => ({ commit, action: "pick" }))),
    check: async (world) => (await world.subjects()) === "a|c|b|d",
  },
  {
    name: "rebase a branch with a conflict",
    given: async (world) => {
      await conflict(world);
      await world.git("checkout", "-q", "topic");
    },
    async cyanheads(agent, world) {
      await agent.try("git_rebase", { mode: "start", upstream: "main" });
      await agent.call("git_diff", {});
      await solve(world);
      await agent.call("git_add", { paths: ["GIT-VERSION-GEN"] });
      await agent.call("git_rebase", { mode: "continue" });
    },
    async ours(agent, world) {
      await agent.try("git_rebase", { onto: "main", on_conflict: "keep" });
      await solve(world);
      await agent.call("git_add", { files: ["GIT-VERSION-GEN"] });
      await agent.call("git_rebase", { action: "continue" });
    },
    check: async (world) => (await world.subjects()) === "ours|theirs",
  },
  {
    name: "tag a release",
    cyanheads: [["git_tag", { mode: "create", tagName: "v9", message: "Nine" }]],
    ours: [["git_create_tag", { tag_name: "v9", message: "Nine" }]],
    check: async (world) => (await world.git("cat-file", "-t", "v9")) === "tag",
  },
  {
    name: "delete a branch, and get it back",
    given: (world) => world.git("branch", "topic", "HEAD~1"),
    async cyanheads(agent) {
      await agent.call("git_log", { branch: "topic", maxCount: 1, oneline: true });
      await agent.call("git_branch", { mode: "delete", branchName: "topic", force: true });
      const [id = ""] = /[0-9a-f]{40}/.exec(agent.read) ?? [];
      await agent.call("git_branch", { mode: "create", branchName: "topic", startPoint: id });
    },
    async ours(agent) {
      const text = await agent.call("git_delete", { kind: "branch", name: "topic" });
      const [ref = ""] = /(?<="recovery":")\w+/.exec(text) ?? [];
      await agent.call("git_create_branch", { branch_name: "topic", base_branch: ref });
    },
    check: async (world) =>
      (await world.git("rev-parse", "topic")) === (await world.git("rev-parse", "HEAD~1")),
  },
];
