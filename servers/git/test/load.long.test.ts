import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { connectStdio } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { at, emptyRepository, place, useTestDirectory } from "./fixture.ts";
import { ALL_TOOLS } from "./world.ts";

useTestDirectory();

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
      (entry) => /^\d+$/.test(entry) && value(entry, "PPid") === pid,
    );
    return { memory: value(String(pid), "RssAnon") / 1024, children: children.length };
  }

  it.runIf(process.platform === "linux")("are read 16 at a time, within 120 MB", async () => {
    const { root, commit, git, write } = at(emptyRepository(place.path("repo")));
    const words = "Words that explain it. ".repeat(100);
    for (let index = 0; index < 120; index++)
      commit(`Commit ${index}\n\n${words}`, { "a.txt": `${index}\n`.repeat(500) });
    for (let index = 0; index < 500; index++)
      git("update-ref", `refs/tags/t-${index}`, `HEAD~${index % 100}`);
    git("gc", "--quiet");
    const { client, pid = 0, close } = await start(root);
    for (let index = 0; index < 200; index++) write(`new/${index}.txt`, `${index}\n`);
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
    const { root, commit, git, write } = at(emptyRepository(place.path("repo")));
    commit("Base", { "base.txt": "base\n" });
    const { client, close } = await start(root);
    const callers = Array.from({ length: 10 }, (_, index) => `caller-${index}`);
    const results = await Promise.all(
      callers.map(async (name) => {
        const files = [`${name}.txt`];
        write(`${name}.txt`, `${name}\n`);
        const added = await client.callTool({ name: "git_add", arguments: { files } });
        const args = { message: name, files };
        const made = await client.callTool({ name: "git_commit", arguments: args });
        return [added.isError ?? false, made.isError ?? false];
      }),
    );
    await close();
    expect(results.flat()).toEqual(results.flat().map(() => false));
    expect(git("status", "--porcelain")).toBe("");
    const commits = git("log", "--format=%x00%s", "--name-only", "-10").split("\0").slice(1);
    const pairs = commits.map((commit) => commit.trim().split(/\n+/));
    expect(pairs.sort()).toEqual(callers.map((name) => [name, `${name}.txt`]));
    git("fsck", "--strict");
  });
});

describe("unbounded work", () => {
  it("is bounded: showing part of a 300 MB blob costs no more than that part", async () => {
    const { root, call, git } = at(emptyRepository(place.path("big")));
    const file = openSync(join(root, "big.txt"), "w");
    const part = "0123456789abcdef".repeat(65_536);
    for (let index = 0; index < 300; index++) writeSync(file, part);
    closeSync(file);
    git("-c", "core.compression=0", "-c", "core.bigFileThreshold=1m", "add", "big.txt");
    git("commit", "--quiet", "-m", "Big");
    const before = process.memoryUsage().rss;
    const { text } = await call("git_show", { revision: "HEAD:big.txt" });
    expect(text).toContain("1 very long line cut");
    expect(text.length).toBeLessThanOrEqual(20_000);
    const patch = await call("git_show", { revision: "HEAD" });
    expect(patch.text.length).toBeLessThanOrEqual(20_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });
});
