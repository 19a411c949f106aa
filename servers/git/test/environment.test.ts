import { execSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import {
  callTool,
  codeOf,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  insideAndOutside,
  isRunning,
  matchesIn,
  place,
  useTestDirectory,
  write,
} from "./fixture.ts";
import { executable } from "./traps.ts";

useTestDirectory();

describe("the server's own environment", () => {
  it("does not affect git: GIT_*, LD_PRELOAD, pagers and editors are removed", async () => {
    const { root, outside } = insideAndOutside();
    const trap = place.path("trap.sh");
    const log = place.path("trap.log");
    executable(trap, `echo ran >> "${log}"`);
    const named = (names: string, value: string) =>
      Object.fromEntries(names.split(" ").map((name) => [name, value]));
    const env = {
      ...process.env,
      GIT_DIR: join(outside, ".git"),
      GIT_WORK_TREE: outside,
      GIT_INDEX_FILE: join(outside, ".git", "index"),
      GIT_OBJECT_DIRECTORY: join(outside, ".git", "objects"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${trap}'`,
      GIT_TRACE: "1",
      ...named("GIT_CONFIG_VALUE_0 GIT_EXTERNAL_DIFF GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS", trap),
      ...named("GIT_PROXY_COMMAND GIT_EDITOR GIT_PAGER PAGER EDITOR", trap),
      ...named("GIT_CONFIG_GLOBAL GIT_EXEC_PATH LD_PRELOAD DYLD_INSERT_LIBRARIES", "/nowhere"),
    };
    const over = gitOver([place.path("in")], { env });
    const { text } = await callTool(over, "git_diff", { repo_path: root, target: "v0.9..v1.0" });
    expect(text).toContain("+OURS");
    const { data } = await callTool(over, "git_status", { repo_path: root });
    expect(data).toMatchObject({ branch: "main", clean: true });
    write(root, "README.md", "changed\n");
    await callTool(over, "git_commit", { repo_path: root, message: "x", files: ["README.md"] });
    expect(existsSync(log)).toBe(false);
  });

  it("finds git only by absolute path, and reports if there is none", async () => {
    const { root } = insideAndOutside();
    executable(join(root, "git"), "echo ran > ran");
    const relative = gitOver([place.path("in")], {
      env: { ...process.env, PATH: `.:${process.env.PATH}` },
    });
    await callTool(relative, "git_status", { repo_path: root });
    expect(existsSync(join(root, "ran"))).toBe(false);
    const none = gitOver([place.path("in")], { env: { PATH: ".:/nowhere" } });
    expect(await codeOf(callTool(none, "git_status", { repo_path: root }))).toBe("git_missing");
    const args = { repo_path: root, paths: ["x".repeat(200_000)] };
    expect(await codeOf(callTool(relative, "git_diff_unstaged", args))).toBe("too_large");
  });
});

describe("unbounded work", () => {
  it("is bounded: a tree of 10^10 files in a few objects (a git bomb)", async () => {
    const root = emptyRepository(place.path("bomb"));
    write(root, "f", "x\n");
    git(root, "add", "f");
    let entry = `100644 blob ${git(root, "rev-parse", ":f").trim()}`;
    for (let depth = 0; depth < 10; depth++) {
      const lines = Array.from({ length: 10 }, (_, index) => `${entry}\t${index}\n`).join("");
      writeFileSync(join(root, "tree"), lines);
      entry = `040000 tree ${execSync("git mktree < tree", { cwd: root, encoding: "utf8" }).trim()}`;
    }
    const commit = git(root, "commit-tree", "-m", "Bomb", entry.slice(12)).trim();
    git(root, "update-ref", "refs/heads/bomb", commit);
    rmSync(join(root, "tree"));
    const over = gitOver([root]);
    const { data } = await callTool(over, "git_list_files", { revision: "bomb", limit: 5 });
    expect(data.files).toEqual([0, 1, 2, 3, 4].map((last) => `0/0/0/0/0/0/0/0/0/${last}`));
    const first = { pattern: "x", revision: "bomb", limit: 1 };
    expect(matchesIn((await callTool(over, "git_grep", first)).data)).toHaveLength(1);
    // A command that would read all of it is stopped, with its process, when the call ends.
    const call = fakeCall();
    const failed = failureOf(callTool(over, "git_show", { revision: "bomb" }, call));
    const children = () => execSync(`ps -o args= --ppid ${process.pid}`, { encoding: "utf8" });
    await expect.poll(children).toMatch(/ show /);
    call.cancel();
    expect((await failed).kind).toBe("cancelled");
    expect(children()).not.toMatch(/ show /);
  });

  it("ends with the call, together with everything that git started", async () => {
    const { root } = insideAndOutside();
    const mark = place.path("pid");
    const hook = join(root, ".git", "hooks", "pre-commit");
    executable(hook, `trap '' TERM\nsleep 600 &\necho $! > "${mark}"\nwait`);
    const over = gitOver([place.path("in")], { hooks: "run" });
    const call = fakeCall();
    const args = { repo_path: root, message: "x", allow_empty: true };
    const commit = callTool(over, "git_commit", args, call);
    commit.catch(() => undefined);
    while (!existsSync(mark) || readFileSync(mark, "utf8") === "")
      await new Promise((wake) => setTimeout(wake, 20));
    const pid = Number(readFileSync(mark, "utf8"));
    expect(() => process.kill(pid, 0)).not.toThrow();
    call.cancel();
    expect((await failureOf(commit)).kind).toBe("cancelled");
    // It was killed; under load the system may need a moment to remove it.
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(existsSync(join(root, ".git", "index.lock"))).toBe(false);
    // The repository is immediately usable.
    expect((await callTool(over, "git_status", { repo_path: root })).data.branch).toBe("main");
  });
});
