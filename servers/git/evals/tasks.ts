import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Task, World } from "@refmcp/testing";

/** Plain git's output for one of the world's repositories. */
const git = (world: World, name: string, ...args: string[]): string => {
  try {
    return execFileSync("git", args, {
      cwd: join(world.args[0] ?? "", name),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "";
  }
};
/** The JSON of a data answer, without the words at the beginning of some. */
const dataOf = (text: string): Record<string, unknown> => JSON.parse(text.slice(text.indexOf("{")));
const ALL = ["--toolsets", "read,write,extra,remote,danger"];
const repo = { repo_path: "repo" };
const tidy = { repo_path: "tidy" };

export const tasks: readonly Task[] = [
  {
    name: "commit one file and leave the rest",
    prompt: "Commit only notes.txt in repo with the message “Add notes”.",
    async reference(call) {
      return call("git_commit", { ...repo, message: "Add notes", files: ["notes.txt"] });
    },
    check: (_answer, world) =>
      git(world, "repo", "show", "--name-only", "--format=%s", "HEAD").replace(/\n+/g, " ") ===
        "Add notes notes.txt" &&
      git(world, "repo", "diff", "--cached", "--name-only") === "src/util.ts",
  },
  {
    name: "find who wrote a line and why",
    prompt: "In repo, who changed line 2 of src/app.ts last, and what did the commit say?",
    async reference(call) {
      return call("git_log", { ...repo, path: "src/app.ts", lines: "2,2", max_count: 1 });
    },
    check: (answer) => answer.includes("Test") && answer.includes("Our line"),
  },
  {
    name: "follow a line through the history",
    prompt:
      "In tidy, which commits changed line 2 of src/app.ts, and what did it say before the last one?",
    async reference(call) {
      return call("git_log", { ...tidy, path: "src/app.ts", lines: "2" });
    },
    check: (answer) => ["Our line", "First commit", "two"].every((text) => answer.includes(text)),
  },
  {
    name: "review a branch",
    prompt:
      "In repo, what does the branch feature change compared to main? Name the files and the new line.",
    async reference(call) {
      return call("git_diff", { ...repo, target: "main...feature" });
    },
    check: (answer) => answer.includes("src/feature.ts") && answer.includes("TEN"),
  },
  {
    name: "read a large change to its end",
    prompt:
      "In big, the last commit adds big.txt and long.txt. How many lines do they add in total?",
    async reference(call) {
      return call("git_show", { repo_path: "big", revision: "HEAD", format: "stat" });
    },
    check: (answer) => /5,?001/.test(answer),
  },
  {
    name: "report a conflicting merge, and leave nothing behind",
    prompt:
      "Try to merge conflicting into main in tidy; if it conflicts, tell me where and leave everything unchanged.",
    async reference(call) {
      return call("git_merge", { ...tidy, revision: "conflicting" }).catch(
        (error: Error) => error.message,
      );
    },
    check: (answer, world) =>
      answer.includes("src/app.ts") &&
      git(world, "tidy", "status", "--porcelain") === "" &&
      !answer.includes("<<<<"),
  },
  {
    name: "start work on a topic from the last release",
    prompt: "In tidy, make a branch fix/login from v0.9 and switch to it.",
    async reference(call) {
      await call("git_create_branch", { ...tidy, branch_name: "fix/login", base_branch: "v0.9" });
      return call("git_checkout", { ...tidy, branch_name: "fix/login" });
    },
    check: (_answer, world) =>
      git(world, "tidy", "branch", "--show-current") === "fix/login" &&
      git(world, "tidy", "rev-parse", "HEAD") === git(world, "tidy", "rev-parse", "v0.9"),
  },
  {
    name: "set work aside and restore it",
    prompt: "In repo, set my changes aside as “half done”, then restore them.",
    async reference(call) {
      await call("git_stash", { ...repo, message: "half done" });
      return call("git_stash_apply", repo);
    },
    check: (_answer, world) =>
      git(world, "repo", "stash", "list").includes("half done") &&
      git(world, "repo", "diff", "--name-only", "HEAD") === "src/app.ts\nsrc/util.ts",
  },
  {
    name: "restore a file to its state in a release",
    prompt:
      "In repo, restore src/app.ts to its content in v0.9. Tell me how to get my version back.",
    async reference(call) {
      return call("git_restore", { ...repo, files: ["src/app.ts"], source: "v0.9" });
    },
    check: (answer, world) =>
      git(world, "repo", "diff", "v0.9", "--", "src/app.ts") === "" &&
      /"recovery":"[0-9a-f]{40}"/.test(answer),
  },
  {
    name: "discard everything, then undo it",
    prompt: "In repo, reset hard to v0.9. … No, I want my commit and my changes back!",
    args: ALL,
    async reference(call) {
      const { before, recovery } = dataOf(
        await call("git_reset_hard", { ...repo, revision: "v0.9" }),
      );
      await call("git_reset_hard", { ...repo, revision: before });
      return call("git_stash_apply", { ...repo, stash: recovery, index: true });
    },
    check: (answer, world) =>
      answer !== "" &&
      git(world, "repo", "log", "-1", "--format=%s") === "Our line" &&
      git(world, "repo", "diff", "--cached", "--name-only") === "src/util.ts" &&
      git(world, "repo", "for-each-ref", "refs/refmcp/") !== "",
  },
  {
    name: "tidy a branch before review",
    prompt:
      "In tidy, combine the last two commits of main into one with the message “Add café and our line”. Show me first that the files stay the same.",
    args: ALL,
    async reference(call) {
      const message = "Add café and our line";
      const steps = [
        { commit: "HEAD~1", action: "pick" },
        { commit: "HEAD", action: "squash", message },
      ];
      const { plan, identical } = dataOf(await call("git_rebase", { ...tidy, steps }));
      return identical === true
        ? call("git_rebase", { ...tidy, apply: plan })
        : "The files would change.";
    },
    check: (_answer, world) =>
      git(world, "tidy", "log", "--format=%s", "main") === "Add café and our line\nFirst commit" &&
      git(world, "tidy", "diff", "v1.0", "main") === "",
  },
  {
    name: "fetch new commits, push local ones, and delete a branch on the remote",
    prompt:
      "In tidy, fetch from origin, tell me what is new, and push main. The branch news on origin is no longer needed: delete it there, and tell me its last commit.",
    args: ALL,
    async reference(call) {
      const news = await call("git_fetch", tidy);
      await call("git_push", tidy);
      const deleted = await call("git_delete", {
        ...tidy,
        kind: "branch",
        name: "news",
        remote: "origin",
      });
      return `${news} ${dataOf(deleted).before}`;
    },
    check: (answer, world) =>
      /origin\/news/.test(answer) &&
      git(world, "upstream.git", "rev-parse", "main") === git(world, "tidy", "rev-parse", "main") &&
      git(world, "upstream.git", "branch", "--list", "news") === "" &&
      git(world, "tidy", "for-each-ref", "refs/refmcp/recovery") !== "",
  },
];
