import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { isAbsolute, join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { callReadingTool, SERVERS, serverWorld } from "../servers.ts";
import { type Newcomer, newcomer, type Seen } from "./newcomer.ts";

/** Long enough for an installation on a slow machine; only for tests that hang. */
const LONG = 900_000;
const entry = z.strictObject({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).optional(),
});
const configuration = z.strictObject({ mcpServers: z.record(z.string(), entry) });

let person: Newcomer;
let seen: Seen;
let site: Server;
let url: string;

beforeAll(async () => {
  site = createServer((_, response) =>
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<title>Tea</title><h1>Tea is served</h1>"),
  ).listen(0, "127.0.0.1");
  await once(site, "listening");
  const address = site.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
  person = await newcomer();
  seen = await person.run("npm", ["start", "--", "--no-system-packages"]);
}, LONG);
afterAll(async () => {
  await person?.dispose();
  site?.closeAllConnections();
  site?.close();
}, LONG);

/** The one entry in what `npm start` or `--print-config` printed. */
function entriesIn(text: string): z.output<typeof configuration>["mcpServers"] {
  const [json = "", ...others] = text.match(/^\{\n[\s\S]*?^\}$/gm) ?? [];
  expect(others).toEqual([]);
  return configuration.parse(JSON.parse(json)).mcpServers;
}

/** The lines of a server in what `npm start` printed: the first, and the reason of a failure or a skip. */
function linesOf({ stdout }: Seen, name: string): string[] {
  const lines = stdout.split("\n");
  const start = lines.findIndex((line) => new RegExp(`^[✓✗–] ${name}: `).test(line));
  if (start < 0) return [];
  const reason = lines.slice(start + 1);
  return [
    lines[start] ?? "",
    ...reason.slice(
      0,
      reason.findIndex((line) => !line.startsWith("    ")),
    ),
  ];
}

function expectNoNoise({ stdout, stderr }: Seen): void {
  const all = `${stdout}${stderr}`;
  expect(all).not.toContain("\u001b");
  expect(all).not.toContain("\r");
  expect(all).not.toMatch(/^\s+at .*:\d+/m);
  expect(all).not.toMatch(/\b(?:undefined|NaN|\[object Object\])/);
}

describe("npm start on a fresh clone", () => {
  it("ends well, with one line for each server", () => {
    expect(seen.code, `${seen.stdout}\n${seen.stderr}`).toBe(0);
    for (const name of SERVERS) {
      const [line, ...reason] = linesOf(seen, name);
      if (name === "playwright" && line?.startsWith("–")) {
        expect(reason.join()).toMatch(/No browser starts on this machine.*npx playwright install/);
        continue;
      }
      expect(line).toMatch(/^✓ [a-z]+: [a-z].{20,90}\. \(\d+ calls?, \d+\.\d s\)$/);
      expect(reason).toEqual([]);
    }
    expect(seen.stdout).toMatch(
      /^✓ \d demos passed(?:, 1 skipped \(playwright\))?: \d+ calls in \d+\.\d s\.$/m,
    );
  });

  it("prints at most 50 lines, without escape codes, stack traces or placeholders", () => {
    expectNoNoise(seen);
    expect(seen.stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(50);
    expect(seen.stdout).not.toMatch(/path\/to|<[a-z]/);
  });

  it("prints an entry that works as printed", async () => {
    const entries = entriesIn(seen.stdout);
    expect(Object.keys(entries)).toEqual(["filesystem"]);
    const { filesystem } = entries;
    if (filesystem === undefined) throw new Error("no entry");
    expect(filesystem.command).toBe(process.execPath);
    const client = await person.start(filesystem);
    const { content, isError } = await client.callTool({
      name: "directory_tree",
      arguments: { path: "." },
    });
    expect(isError).not.toBe(true);
    expect(content).toMatchObject([
      { type: "text", text: expect.stringMatching(/ {2}README\.md\n/) },
    ]);
  });

  it("prints a command that prints the entry of any server for any host", async () => {
    const [, words = ""] = /for example: node (.*)$/m.exec(seen.stdout) ?? [];
    const { code, stdout } = await person.run("node", words.split(" "));
    expect([code, Object.keys(JSON.parse(stdout))]).toEqual([0, ["servers"]]);
    for (const name of SERVERS)
      expect(seen.stdout).toMatch(new RegExp(`^ {2}NAME .*\\b${name}\\b`, "m"));
  });
});

/**
 * First calls that differ from the server's test fixture, because a person would start otherwise: the arguments, the call, and
 * its answer.
 */
const FIRST_CALLS: Readonly<
  Record<
    string,
    () => { args: string[]; tool: string; input?: Record<string, unknown>; answer: RegExp }
  >
> = {
  fetch: () => ({
    args: ["--allow-host", new URL(url).host],
    tool: "fetch",
    input: { url },
    answer: /Tea is served/,
  }),
  git: () => ({ args: ["."], tool: "git_log", input: { max_count: 1 }, answer: /Message: clone/ }),
  memory: () => ({ args: [], tool: "read_graph", answer: /"entities": ?\[\]/ }),
  playwright: () => ({
    args: [],
    tool: "pw_inspect_page",
    input: { url },
    answer: /Tea is served/,
  }),
  postgres: () => ({
    args: ["--embedded"],
    tool: "query",
    input: { sql: "SELECT version()" },
    answer: /PostgreSQL \d+/,
  }),
  sqlite: () => ({
    args: ["--db-path", "tea.db"],
    tool: "read_query",
    input: { query: "SELECT 6 * 7 AS answer" },
    answer: /\b42\b/,
  }),
};

describe.each(SERVERS)("the entry that %s prints for Claude Desktop", (name) => {
  async function start(args: readonly string[], env = {}): Promise<Client> {
    const bin = join("packages", "refmcp", "dist", "bin.js");
    const words = [name, ...args, "--print-config", "claude-desktop"];
    const printed = await person.run("node", [bin, ...words]);
    expect(printed.code, printed.stderr).toBe(0);
    const own = entriesIn(printed.stdout)[name];
    if (own === undefined) throw new Error("no entry");
    expect(own.command).toBe(process.execPath);
    expect(isAbsolute(own.args[0] ?? "")).toBe(true);
    return person.start({ ...own, env: { ...own.env, ...env } });
  }

  it("works as printed, started as Claude Desktop does", { timeout: LONG }, async ({ skip }) => {
    const [line = "", reason] = linesOf(seen, name);
    if (line.startsWith("–")) skip(reason?.trim());
    // An empty file is an empty SQLite database.
    if (name === "sqlite") await writeFile(join(person.clone.root, "tea.db"), "");
    const first = FIRST_CALLS[name]?.();
    if (first === undefined) {
      const world = await serverWorld(name);
      try {
        await callReadingTool(await start(world.args, world.env), world);
      } finally {
        await world.dispose();
      }
      return;
    }
    const { args, tool, input = {}, answer } = first;
    const client = await start(args);
    const { content, isError } = await client.callTool({ name: tool, arguments: input });
    expect(isError, JSON.stringify(content)).not.toBe(true);
    expect(JSON.stringify(content).replaceAll("\\", "")).toMatch(answer);
  });
});

describe("npm start explains problems", () => {
  it("without git: one sentence, and the other demos run", { timeout: LONG }, async () => {
    const without = await person.run("npm", ["start", "--", "git", "fetch", "--verbose"], ["git"]);
    expect(without.code, without.stdout).toBe(1);
    expect(linesOf(without, "git")).toEqual([
      expect.stringMatching(/^– git: .*\(skipped\)$/),
      "    git was not found on the PATH. Install it from https://git-scm.com/downloads, then run npm start again.",
    ]);
    expect(without.stdout).toMatch(/^✗ 1 demo passed, 1 skipped \(git\): /m);
    // The transcript, because of --verbose.
    expect(without.stdout).toMatch(/^ {2}→ fetch \{"url"/m);
    expect(seen.stdout).not.toContain("→");
    expectNoNoise(without);
  });

  it("for a name that is not a server", { timeout: LONG }, async () => {
    const { code, stderr } = await person.run("npm", ["start", "--", "postgress"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("No server is named postgress. There are: fetch, "),
    ]);
  });
});
