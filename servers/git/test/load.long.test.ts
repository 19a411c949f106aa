import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { connectStdio } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  callTool,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  type Scratch,
  scratch,
  write,
} from "./fixture.ts";
import { ALL_TOOLS } from "./world.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

function start(root: string) {
  return connectStdio(join(import.meta.dirname, "../dist/bin.js"), { args: [root, ...ALL_TOOLS] });
}

describe("200 calls in flight", () => {
  /** What a process uses now, in MB, and how many processes it has started that still run. */
  function useOf(pid: number): { memory: number; children: number } {
    const value = (of: string, name: string) => {
      try {
        const status = readFileSync(`/proc/${of}/status`, "latin1");
        return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
      } catch {
        return 0;
      }
    };
    const children = readdirSync("/proc").filter(
      (one) => /^\d+$/.test(one) && value(one, "PPid") === pid,
    );
    return { memory: value(String(pid), "RssAnon") / 1024, children: children.length };
  }

  it.runIf(process.platform === "linux")("are read 16 at a time, within 120 MB", async () => {
    const root = emptyRepository(place.path("repo"));
    for (let index = 0; index < 120; index++)
      commitFiles(root, `Commit ${index}\n\n${"Words that explain it. ".repeat(100)}`, {
        "a.txt": `${index}\n`.repeat(500),
      });
    for (let index = 0; index < 500; index++)
      git(root, "update-ref", `refs/tags/t-${index}`, `HEAD~${index % 100}`);
    git(root, "gc", "--quiet");
    const { client, pid = 0, close } = await start(root);
    for (let index = 0; index < 200; index++) write(root, `new/${index}.txt`, `${index}\n`);
    const calls = (index: number) => [
      { name: "git_branch", arguments: { branch_type: "all" } },
      { name: "git_log", arguments: { max_count: 100, format: "full" } },
      { name: "git_add", arguments: { files: [`new/${index}.txt`] } },
      { name: "git_status", arguments: {} },
    ];
    let peak = { memory: 0, children: 0 };
    const watch = setInterval(() => {
      const { memory, children } = useOf(pid);
      peak = { memory: Math.max(peak.memory, memory), children: Math.max(peak.children, children) };
    }, 10);
    const isError = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const [chosen = { name: "" }] = calls(index).slice(index % 4);
        return (await client.callTool(chosen)).isError ?? false;
      }),
    );
    expect(isError).not.toContain(true);
    clearInterval(watch);
    await close();
    // 16 calls read at a time, each with at most two processes.
    expect(peak.children).toBeLessThanOrEqual(40);
    expect(peak.memory).toBeLessThan(120);
  });
});

describe("ten callers that change one repository at the same time", () => {
  it("make ten commits, each with its own file", async () => {
    const root = emptyRepository(place.path("repo"));
    commitFiles(root, "Base", { "base.txt": "base\n" });
    const { client, close } = await start(root);
    const callers = Array.from({ length: 10 }, (_, index) => `caller-${index}`);
    const results = await Promise.all(
      callers.map(async (name) => {
        write(root, `${name}.txt`, `${name}\n`);
        const files = [`${name}.txt`];
        const added = await client.callTool({ name: "git_add", arguments: { files } });
        const made = await client.callTool({
          name: "git_commit",
          arguments: { message: name, files },
        });
        return [added.isError ?? false, made.isError ?? false];
      }),
    );
    await close();
    expect(results.flat()).toEqual(results.flat().map(() => false));
    expect(git(root, "status", "--porcelain")).toBe("");
    const commits = git(root, "log", "--format=%x00%s", "--name-only", "-10").split("\0").slice(1);
    const pairs = commits.map((commit) => commit.trim().split(/\n+/));
    expect(pairs.sort()).toEqual(callers.map((name) => [name, `${name}.txt`]));
    git(root, "fsck", "--strict");
  });

  it("commit what is staged once, and are told that nothing is left", async () => {
    const root = emptyRepository(place.path("repo"));
    commitFiles(root, "Base", { "base.txt": "base\n" });
    const { client, close } = await start(root);
    const names = Array.from({ length: 10 }, (_, index) => `${index}.txt`);
    for (const name of names) write(root, name, `${name}\n`);
    const texts = await Promise.all(
      names.map(async (name) => {
        const added = await client.callTool({ name: "git_add", arguments: { files: [name] } });
        expect(added.isError).toBeFalsy();
        const made = await client.callTool({ name: "git_commit", arguments: { message: name } });
        return made.isError ? JSON.stringify(made.content) : "made";
      }),
    );
    await close();
    for (const text of texts) expect(text).toMatch(/^made$|There are no staged changes/);
    expect(git(root, "ls-tree", "--name-only", "HEAD").trim().split("\n")).toEqual([
      ...names,
      "base.txt",
    ]);
    expect(git(root, "log", "--format=%s").trim().split("\n")).toHaveLength(
      1 + texts.filter((text) => text === "made").length,
    );
  });
});

describe("a file with 200,000 lines", () => {
  const lines = (each: (index: number) => string) =>
    Array.from({ length: 200_000 }, (_, index) => `${each(index)}\n`).join("");

  it.each([
    ["every second", (index: number) => (index % 2 === 0 ? `${index}` : `new ${index}`)],
    [
      "every second, all changes equal,",
      (index: number) => (index % 2 === 0 ? `${index}` : "same"),
    ],
    ["every", (index: number) => `new ${index}`],
  ])("of which %s is changed is staged by an id of its hunk", async (_, each) => {
    const root = emptyRepository(place.path("repo"));
    commitFiles(root, "Base", { "big.txt": lines(String) });
    write(root, "big.txt", lines(each));
    const over = gitOver([root]);
    const { text } = await callTool(over, "git_diff_unstaged", { context_lines: 1 });
    expect(text.length).toBeLessThanOrEqual(20_000);
    const [, id = ""] = /^@@ .* \[([0-9a-f]{7}u1)\]$/m.exec(text) ?? [];
    expect((await failureOf(callTool(over, "git_add", { hunks: ["0000000"] }))).code).toBe(
      "stale_hunk",
    );
    await callTool(over, "git_add", { hunks: [id] });
    expect(git(root, "status", "--porcelain")).toBe("M  big.txt\n");
  });
});
