import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { rawSession } from "@refmcp/testing";
import { describe, expect, it, type TestContext } from "vitest";
import { BIN, cleanUp, project, runningServers, start, textOf } from "./project.ts";

cleanUp();

function needsLinux(context: TestContext): void {
  if (process.platform !== "linux") context.skip("reads the processes of /proc");
}

describe("the servers' processes", () => {
  it("start at the first call of their tools; listing starts none", async (context) => {
    needsLinux(context);
    const place = project();
    const connected = await start(place, { era: "modern" });
    const { client } = connected;
    await client.listTools();
    await client.listPrompts();
    await client.listResources();
    await client.listResourceTemplates();
    expect([...runningServers(connected).keys()]).toEqual([]);
    await client.callTool({ name: "git_status", arguments: {} });
    await client.callTool({ name: "git_log", arguments: {} });
    expect([...runningServers(connected).keys()]).toEqual(["git"]);
    await client.callTool({ name: "search_nodes", arguments: { query: "x" } });
    expect([...runningServers(connected).keys()].sort()).toEqual(["git", "memory"]);
  });

  it("end with this program, even if it is killed", async (context) => {
    needsLinux(context);
    const place = project();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      const connected = await start(place);
      await connected.client.callTool({ name: "git_status", arguments: {} });
      const pid = runningServers(connected).get("git") ?? 0;
      expect(pid).toBeGreaterThan(0);
      process.kill(connected.pid ?? 0, signal);
      await expect.poll(() => isAlive(pid)).toBe(false);
    }
  });

  it("are started again after they died, and the calls that they took say so", async (context) => {
    needsLinux(context);
    const connected = await start(project());
    const { client } = connected;
    const call = () => client.callTool({ name: "git_status", arguments: {} });
    await call();
    const pid = runningServers(connected).get("git") ?? 0;
    process.kill(pid, "SIGSTOP");
    const lost = [call(), call()];
    const other = await client.callTool({ name: "search_nodes", arguments: { query: "x" } });
    expect(other.isError).not.toBe(true);
    process.kill(pid, "SIGKILL");
    for (const answer of await Promise.all(lost)) {
      expect(answer.isError).toBe(true);
      expect(textOf(answer)).toBe(
        "The git server was ended by SIGKILL\nThe next call starts it again.",
      );
    }
    expect((await call()).isError).not.toBe(true);
    expect(runningServers(connected).get("git")).not.toBe(pid);
  });

  it.for(["legacy", "modern"] as const)(
    "keep subscriptions, also across a restart (%s)",
    async (era, context) => {
      needsLinux(context);
      const place = project();
      const { client, received, ...connected } = await start(place, { era });
      const uri = pathToFileURL(place.path("a.txt")).href;
      const updates = () =>
        received.filter(
          (one) => "method" in one && one.method === "notifications/resources/updated",
        ).length;
      if (era === "legacy") await client.subscribeResource({ uri });
      else await client.listen({ resourceSubscriptions: [uri] });
      writeFileSync(place.path("a.txt"), "two\n");
      await expect.poll(updates).toBeGreaterThan(0);
      const before = updates();
      process.kill(runningServers(connected).get("filesystem") ?? 0, "SIGKILL");
      // What happened in between is unknown, so the restart itself counts as a change.
      // The next call may still reach the process that is ending.
      const read = () =>
        client.callTool({ name: "read_text_file", arguments: { path: place.path("a.txt") } });
      await expect.poll(async () => (await read()).isError).not.toBe(true);
      await expect.poll(updates).toBeGreaterThan(before);
      const again = updates();
      writeFileSync(place.path("a.txt"), "three\n");
      await expect.poll(updates).toBeGreaterThan(again);
    },
  );

  it("report why they did not start, and leave the others alone", async () => {
    const place = project();
    const { client } = await start(place, {
      args: [place.folder, "--postgres.exclude-tools=nothing"],
    });
    const failed = await client.callTool({ name: "query", arguments: { sql: "select 1" } });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toMatch(/^The postgres server ended with exit code 2: .*nothing/);
    expect((await client.callTool({ name: "git_status", arguments: {} })).isError).not.toBe(true);
  });
});

it("serves a client of the SDK of 2025", async () => {
  const { folder, env } = project();
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [BIN, folder], env: { ...env } }),
  );
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("git_branch");
    const answer = await client.callTool({ name: "git_branch", arguments: {} });
    expect(answer.isError).not.toBe(true);
  } finally {
    await client.close();
  }
});

it("prints its version, and refuses options that no server has", async () => {
  expect((await rawSession(BIN, "", { args: ["--version"] })).lines[0]).toMatch(
    /^refmcp \d+\.\d+\.\d+/,
  );
  const wrong = await rawSession(BIN, "", { args: ["--git.hoks", "off"] });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("Did you mean --git.hooks?");
});

it("runs one server alone", async () => {
  const git = await rawSession(BIN, "", { args: ["git", "--version"] });
  expect(git.lines[0]).toMatch(/^@refmcp\/server-git \d/);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
