import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { unpackExtension } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverBin } from "../servers.ts";
import { callText, startBundle } from "./bundle-kit.ts";
import { bundleOf } from "./release.ts";

const execute = promisify(execFile);
/** The oldest version that bundles with native modules support, and a newer one, both from the npm registry. */
const VERSIONS = ["22.14.0", "24.21.0"] as const;
/** Only for tests that hang: downloads on a slow machine take long. */
const LONG = 1_200_000;
let folder = "";
const nodes = new Map<string, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-other-node-"));
  for (const version of VERSIONS) {
    const home = join(folder, `node-${version}`);
    await mkdir(home);
    await writeFile(join(home, "package.json"), '{ "private": true }');
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    await execute("npm", ["install", "--save-exact", ...quiet, `node@${version}`], { cwd: home });
    const node = join(home, "node_modules", "node", "bin", "node");
    expect((await execute(node, ["--version"])).stdout.trim()).toBe(`v${version}`);
    nodes.set(version, node);
  }
}, LONG);
afterAll(() => rm(folder, { recursive: true, force: true }));

const nodeOf = (version: string) => {
  const node = nodes.get(version);
  if (node === undefined) throw new Error(`Node.js ${version} is not installed`);
  return node;
};

describe("a bundle made on this Node.js", () => {
  const unpacked = new Map<string, string>();

  beforeAll(async () => {
    for (const name of ["memory", "sqlite"]) {
      const place = join(folder, name);
      const mcpbPath = await bundleOf(name);
      expect(await unpackExtension({ mcpbPath, outputDir: place, silent: true })).toBe(true);
      unpacked.set(name, place);
    }
  }, LONG);

  const start = async (name: string, version: string, form: Record<string, string | boolean | string[]>) => {
    const home = await mkdtemp(join(folder, "home-"));
    const path = dirname(nodeOf(version));
    return startBundle(unpacked.get(name) ?? "", { form, path, home });
  };

  it.each(VERSIONS)("of memory writes and reads on Node.js %s", async (version) => {
    const client = await start("memory", version, {});
    try {
      const entities = [{ name: "Ada", entityType: "person", observations: ["Writes programs"] }];
      expect(await callText(client, "create_entities", { entities })).toMatchObject({ isError: false });
      expect((await callText(client, "read_graph")).text).toContain("Writes programs");
    } finally {
      await client.close();
    }
  });

  it.each(VERSIONS)("of sqlite writes and reads on Node.js %s", async (version) => {
    const dbPath = join(folder, `${version}.db`);
    const form = { dbPath, directories: [folder], allowWrite: true, allowDdl: true };
    const client = await start("sqlite", version, form);
    try {
      const create = { query: "CREATE TABLE planet (name TEXT)" };
      expect(await callText(client, "create_table", create)).toMatchObject({ isError: false });
      const write = { query: "INSERT INTO planet VALUES ('Ceres')" };
      expect(await callText(client, "write_query", write)).toMatchObject({ isError: false });
      expect((await callText(client, "read_query", { query: "SELECT * FROM planet" })).text).toContain(
        "Ceres",
      );
    } finally {
      await client.close();
    }
  });
});

describe("SQLite that was compiled for another version of Node.js", () => {
  // The workspace has better-sqlite3 12, which was compiled for the Node.js that runs this test.
  const [own] = process.versions.node.split(".");
  const version = VERSIONS.find((one) => one.split(".")[0] !== own) ?? VERSIONS[0];

  it.each([
    ["memory", "memory_stats", {}],
    ["sqlite", "list_tables", {}],
  ])("is reported by the %s server, with the command that repairs it", async (name, tool, args) => {
    const home = await mkdtemp(join(folder, "home-"));
    const file = join(home, "empty.db");
    await writeFile(file, "");
    const client = new Client({ name: "other-node", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: nodeOf(version),
        args: [serverBin(name), ...(name === "sqlite" ? [`--db-path=${file}`] : [])],
        env: { HOME: home },
        cwd: home,
      }),
    );
    try {
      const { isError, text } = await callText(client, tool, args);
      expect(isError).toBe(true);
      expect(text).toContain(
        `better-sqlite3 was built for another version of Node.js; this is Node.js ${version}.`,
      );
      expect(text).toMatch(/Run npm rebuild better-sqlite3 in \S+ with this Node\.js/);
    } finally {
      await client.close();
    }
  });
});
