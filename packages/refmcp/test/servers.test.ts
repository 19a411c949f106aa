import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { rawSession } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { BIN, cleanUp, environmentsBelow, project, start, textOf } from "./project.ts";

cleanUp();

describe("the servers in one process", () => {
  it("open what they need at their first call; listing opens nothing", async () => {
    const place = project();
    const { client } = await start(place, {
      era: "modern",
      args: [place.folder, "--memory.file", place.path("memory.db")],
    });
    await client.listTools();
    await client.listPrompts();
    await client.listResources();
    await client.listResourceTemplates();
    await client.callTool({ name: "git_status", arguments: {} });
    expect(existsSync(place.path("memory.db"))).toBe(false);
    await client.callTool({ name: "search_nodes", arguments: { query: "x" } });
    expect(existsSync(place.path("memory.db"))).toBe(true);
  });

  it("cost a model at most 10,000 tokens by default, and no database or browser is among them", async () => {
    const { tools } = await (await start(project())).client.listTools();
    const read = tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
    // Four characters a token, the rule of thumb for JSON.
    expect(JSON.stringify(read).length / 4).toBeLessThan(10_000);
    const names = tools.map(({ name }) => name);
    for (const name of ["read_query", "query", "pw_run_test"]) expect(names).not.toContain(name);
  });

  it.for(["legacy", "modern"] as const)("keep subscriptions (%s)", async (era) => {
    const place = project();
    const { client, received } = await start(place, { era });
    const uri = pathToFileURL(place.path("a.txt")).href;
    const updates = () =>
      received.filter(
        (message) => "method" in message && message.method === "notifications/resources/updated",
      ).length;
    if (era === "legacy") await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    writeFileSync(place.path("a.txt"), "two\n");
    await expect.poll(updates).toBeGreaterThan(0);
  });

  it("do not start if an option does not fit one of them, and the message names it", async () => {
    const wrong = await rawSession(BIN, "", { args: ["--postgres.exclude-tools=nothing"] });
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('postgres: Unknown tool "nothing"');
  });

  it("an error that nothing catches in one ends no call of another, and the next call opens it again", async () => {
    const place = project();
    // Throws as the memory server's code would, but not during a call.
    const folder = new URL("../../../servers/memory/dist/", import.meta.url).href;
    const fault = `process.on("SIGUSR2", () => process.getBuiltinModule("node:vm").runInThisContext('setImmediate(() => { throw new Error("lost") })', { filename: ${JSON.stringify(`${folder}part.js`)} }))`;
    const asked: ((answer: object) => void)[] = [];
    const { client, pid, stderr } = await start(place, {
      args: [place.folder, "--git.toolsets=read,danger"],
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` },
      elicit: () =>
        new Promise((resolve) => {
          asked.push((answer) => resolve(Object(answer)));
        }),
    });
    const entity = { name: "Ada", entityType: "person", observations: ["wrote programs"] };
    await client.callTool({ name: "create_entities", arguments: { entities: [entity] } });
    writeFileSync(place.path("untracked.txt"), "lost\n");
    const cleaning = client.callTool({ name: "git_clean", arguments: {} });
    await expect.poll(() => asked.length).toBe(1);

    process.kill(pid ?? 0, "SIGUSR2");
    await expect.poll(stderr).toContain("uncaught exception: Error: lost");

    asked[0]?.({ action: "accept", content: { confirm: true } });
    expect((await cleaning).isError).not.toBe(true);
    expect(existsSync(place.path("untracked.txt"))).toBe(false);
    const answer = await client.callTool({ name: "search_nodes", arguments: { query: "Ada" } });
    expect(textOf(answer)).toContain("wrote programs");
  });

  it("a secret of one is in no answer and no child environment of another", async (context) => {
    const place = project();
    const hook = place.path(".git", "hooks", "pre-commit");
    const seen = place.path("..", "environment.txt");
    writeFileSync(hook, `#!/bin/sh\nenv | tee ${JSON.stringify(seen)}\n`);
    chmodSync(hook, 0o755);
    const url = "postgres://me:SECRET-1@127.0.0.1:1/db";
    const secrets = {
      DATABASE_URL: "postgres://me:SECRET-2@host/db",
      PGPASSWORD: "SECRET-3",
      PW_SECRET_LOGIN: "SECRET-4",
      REFMCP_FETCH_HEADER: "example.org=Authorization: SECRET-5",
    };
    const connected = await start(place, {
      args: [
        ...[place.folder, "--git.hooks=run", "--playwright", "--postgres", url],
        ...["--sqlite", place.path("app.db"), "--sqlite.allow-write", "--sqlite.allow-ddl"],
      ],
      env: secrets,
    });
    const { client, received } = connected;
    const call = (name: string, given: object = {}) =>
      client.callTool({ name, arguments: { ...given } });
    writeFileSync(place.path("b.txt"), "two\n");
    await call("git_add", { files: ["b.txt"] });
    const commit = await call("git_commit", { message: "Second" });
    expect(commit.isError, textOf(commit)).not.toBe(true);
    const created = await call("execute", { statements: "CREATE TABLE t (x)" });
    expect(created.isError, textOf(created)).not.toBe(true);
    await call("search_nodes", { query: "SECRET" });
    await call("query", { sql: "select 1" });
    await call("fetch", { url: "http://127.0.0.1:1/" });
    expect(readFileSync(seen, "utf8")).toContain("PATH=");
    expect(readFileSync(seen, "utf8")).not.toContain("SECRET-");
    expect(JSON.stringify(received)).not.toContain("SECRET-");
    if (process.platform !== "linux") context.skip("reads the environments of /proc");
    const environments = environmentsBelow(connected);
    expect(environments.length).toBeGreaterThan(0);
    for (const environment of environments) expect(environment).not.toContain("SECRET-");
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
