import { execSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fakeCall, isRunning } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import {
  at,
  emptyRepository,
  failureOf,
  insideAndOutside,
  matchesIn,
  place,
  useTestDirectory,
} from "./fixture.ts";
import { executable } from "./traps.ts";

useTestDirectory();

describe("the server's own environment", () => {
  it("does not affect git: GIT_*, LD_PRELOAD, pagers and editors are removed", async () => {
    const { root, outside } = insideAndOutside();
    const log = place.path("trap.log");
    const trap = executable(place.path("trap.sh"), `echo ran >> "${log}"`);
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
    const { call, write } = at(root, { env }, place.path("in"));
    expect((await call("git_diff", { target: "v0.9..v1.0" })).text).toContain("+OURS");
    expect((await call("git_status")).data).toMatchObject({ branch: "main", clean: true });
    write("README.md", "changed\n");
    await call("git_commit", { message: "x", files: ["README.md"] });
    expect(existsSync(log)).toBe(false);
  });

  it("finds git only by absolute path, and reports if there is none", async () => {
    const env = { ...process.env, PATH: `.:${process.env.PATH}` };
    const { root, call, code } = insideAndOutside({ env });
    executable(join(root, "git"), "echo ran > ran");
    await call("git_status");
    expect(existsSync(join(root, "ran"))).toBe(false);
    const none = at(root, { env: { PATH: ".:/nowhere" } }, place.path("in"));
    expect(await none.code("git_status")).toBe("git_missing");
    const paths = ["x".repeat(200_000)];
    expect(await code("git_diff_unstaged", { paths })).toBe("too_large");
  });
});

describe("unbounded work", () => {
  it("is bounded: a tree of 10^10 files in a few objects (a git bomb)", async () => {
    const { root, call, git, id, write } = at(emptyRepository(place.path("bomb")));
    write("f", "x\n");
    git("add", "f");
    let entry = `100644 blob ${id(":f")}`;
    for (let depth = 0; depth < 10; depth++) {
      const lines = Array.from({ length: 10 }, (_, index) => `${entry}\t${index}\n`).join("");
      write("tree", lines);
      entry = `040000 tree ${execSync("git mktree < tree", { cwd: root, encoding: "utf8" }).trim()}`;
    }
    git("update-ref", "refs/heads/bomb", git("commit-tree", "-m", "Bomb", entry.slice(12)).trim());
    rmSync(join(root, "tree"));
    const { data } = await call("git_list_files", { revision: "bomb", limit: 5 });
    expect(data.files).toEqual([0, 1, 2, 3, 4].map((last) => `0/0/0/0/0/0/0/0/0/${last}`));
    const first = { pattern: "x", revision: "bomb", limit: 1 };
    expect(matchesIn((await call("git_grep", first)).data)).toHaveLength(1);
    // A command that would read all of it is stopped, with its process, when the call ends.
    const asked = fakeCall();
    const failed = failureOf(call("git_show", { revision: "bomb" }, asked));
    const children = () => execSync(`ps -o args= --ppid ${process.pid}`, { encoding: "utf8" });
    await expect.poll(children).toMatch(/ show /);
    asked.cancel();
    expect((await failed).kind).toBe("cancelled");
    expect(children()).not.toMatch(/ show /);
  });

  it("ends with the call, together with everything that git started", async () => {
    const { root, call } = insideAndOutside({ hooks: "run" });
    const mark = place.path("pid");
    const hook = join(root, ".git", "hooks", "pre-commit");
    executable(hook, `trap '' TERM\nsleep 600 &\necho $! > "${mark}"\nwait`);
    const asked = fakeCall();
    const failed = failureOf(call("git_commit", { message: "x", allow_empty: true }, asked));
    await expect.poll(() => existsSync(mark) && readFileSync(mark, "utf8")).toMatch(/\n/);
    const pid = Number(readFileSync(mark, "utf8"));
    expect(isRunning(pid)).toBe(true);
    asked.cancel();
    expect((await failed).kind).toBe("cancelled");
    // It was killed; under load the system may need a moment to remove it.
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(existsSync(join(root, ".git", "index.lock"))).toBe(false);
    // The repository is immediately usable.
    expect((await call("git_status")).data.branch).toBe("main");
  });
});
