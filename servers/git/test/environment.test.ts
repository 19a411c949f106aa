import { execSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
  type Scratch,
  scratch,
  write,
} from "./fixture.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

describe("the server's own environment", () => {
  it("does not affect git: GIT_*, LD_PRELOAD, pagers and editors are removed", async () => {
    const { root, outside } = insideAndOutside(place);
    const trap = place.path("trap.sh");
    const log = place.path("trap.log");
    writeFileSync(trap, `#!/bin/sh\necho ran >> "${log}"\n`);
    chmodSync(trap, 0o755);
    const env = {
      ...process.env,
      GIT_DIR: join(outside, ".git"),
      GIT_WORK_TREE: outside,
      GIT_INDEX_FILE: join(outside, ".git", "index"),
      GIT_OBJECT_DIRECTORY: join(outside, ".git", "objects"),
      GIT_CONFIG_GLOBAL: place.path("evil-config"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_VALUE_0: trap,
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${trap}'`,
      GIT_EXTERNAL_DIFF: trap,
      GIT_SSH_COMMAND: trap,
      GIT_SSH: trap,
      GIT_ASKPASS: trap,
      GIT_PROXY_COMMAND: trap,
      GIT_EDITOR: trap,
      GIT_PAGER: trap,
      GIT_EXEC_PATH: place.path("nowhere"),
      GIT_TRACE: "1",
      LD_PRELOAD: place.path("none.so"),
      DYLD_INSERT_LIBRARIES: place.path("none.so"),
      PAGER: trap,
      EDITOR: trap,
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
    const { root } = insideAndOutside(place);
    write(root, "git", "#!/bin/sh\necho ran > ran\n");
    chmodSync(join(root, "git"), 0o755);
    const relative = gitOver([place.path("in")], {
      env: { ...process.env, PATH: `.:${process.env.PATH}` },
    });
    await callTool(relative, "git_status", { repo_path: root });
    expect(existsSync(join(root, "ran"))).toBe(false);
    const none = gitOver([place.path("in")], { env: { PATH: ".:/nowhere" } });
    expect(await codeOf(callTool(none, "git_status", { repo_path: root }))).toBe("git_missing");
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
    const commit = git(
      root,
      "commit-tree",
      "-m",
      "Bomb",
      entry.slice("040000 tree ".length),
    ).trim();
    git(root, "update-ref", "refs/heads/bomb", commit);
    rmSync(join(root, "tree"));
    const over = gitOver([root]);
    const { data } = await callTool(over, "git_list_files", { revision: "bomb", limit: 5 });
    expect(data.files).toEqual([
      "0/0/0/0/0/0/0/0/0/0",
      "0/0/0/0/0/0/0/0/0/1",
      "0/0/0/0/0/0/0/0/0/2",
      "0/0/0/0/0/0/0/0/0/3",
      "0/0/0/0/0/0/0/0/0/4",
    ]);
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
    const { root } = insideAndOutside(place);
    const mark = place.path("pid");
    const hook = join(root, ".git", "hooks", "pre-commit");
    mkdirSync(join(root, ".git", "hooks"), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\nsleep 600 &\necho $! > "${mark}"\nwait\n`);
    chmodSync(hook, 0o755);
    const over = gitOver([place.path("in")], { hooks: "run" });
    const call = fakeCall();
    const commit = callTool(
      over,
      "git_commit",
      { repo_path: root, message: "x", allow_empty: true },
      call,
    );
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

describe("a missing object", () => {
  it("is reported and not fetched: no promisor, no transport", async () => {
    const { root, over } = insideAndOutside(place);
    const log = place.path("ran");
    const trap = place.path("trap.sh");
    writeFileSync(trap, `#!/bin/sh\ntouch "${log}"\n`);
    chmodSync(trap, 0o755);
    const blob = git(root, "rev-parse", "v0.9:docs/café.md").trim();
    git(root, "config", "extensions.partialClone", "evil");
    git(root, "config", "core.repositoryFormatVersion", "1");
    git(root, "config", "remote.evil.promisor", "true");
    git(root, "config", "remote.evil.url", root);
    git(root, "config", "remote.evil.uploadpack", trap);
    rmSync(join(root, ".git", "objects", blob.slice(0, 2), blob.slice(2)));
    for (const [name, args] of [
      ["git_show", { revision: "v0.9" }],
      ["git_diff", { target: "v0.9~1..v0.9" }],
      ["git_blame", { path: "docs/café.md" }],
      ["git_grep", { pattern: "warm", revision: "v0.9" }],
      ["git_log", { pickaxe: "warm" }],
    ] as const) {
      const work = callTool(over, name, { repo_path: root, ...args });
      const error = await failureOf(work).catch((cause) => {
        throw new Error(`${name}: ${String(cause)}`);
      });
      expect(
        ["missing_object", "bad_path"],
        `${name} ${error.message} ${String(error.cause)}`,
      ).toContain(error.code);
    }
    expect(existsSync(log)).toBe(false);
  });
});
