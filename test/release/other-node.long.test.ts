import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { unpackExtension } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeProgram } from "../../scripts/lib/npm-programs.mjs";
import { cloneWorkspace } from "../new/clone.ts";
import { INSTALL_MS, ROOT, serverBin } from "../servers.ts";
import { callText, startBundle } from "./bundle-kit.ts";
import { bundleOf } from "./release.ts";

const execute = promisify(execFile);
/** The oldest version that bundles with native modules support, and a newer one. */
const OLDEST = "22.14.0";
const VERSIONS = [22, 24] as const;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-other-node-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const nodeOf = async (major: number) =>
  (await nodeProgram(major, major === 22 ? OLDEST : undefined)).program;

describe("a bundle made on this Node.js", () => {
  const unpacked = new Map<string, string>();

  beforeAll(async () => {
    for (const name of ["memory", "sqlite"]) {
      const place = join(folder, name);
      const mcpbPath = await bundleOf(name);
      expect(await unpackExtension({ mcpbPath, outputDir: place, silent: true })).toBe(true);
      unpacked.set(name, place);
    }
  }, INSTALL_MS);

  const start = async (
    name: string,
    version: number,
    form: Record<string, string | boolean | string[]>,
  ) => {
    const home = await mkdtemp(join(folder, "home-"));
    const path = dirname(await nodeOf(version));
    return startBundle(unpacked.get(name) ?? "", { form, path, home });
  };

  const dbPath = () => join(folder, `${crypto.randomUUID()}.db`);
  const BUNDLES = [
    {
      name: "memory",
      form: () => ({}),
      calls: [
        [
          "create_entities",
          { entities: [{ name: "Ada", entityType: "person", observations: ["Ceres"] }] },
        ],
        ["read_graph", {}],
      ],
    },
    {
      name: "sqlite",
      form: () => ({ dbPath: dbPath(), directories: [folder], allowWrite: true, allowDdl: true }),
      calls: [
        ["execute", { statements: ["CREATE TABLE planet (name TEXT)"] }],
        ["execute", { statements: ["INSERT INTO planet VALUES ('Ceres')"] }],
        ["read_query", { query: "SELECT * FROM planet" }],
      ],
    },
  ] as const;

  it.each(BUNDLES.flatMap((bundle) => VERSIONS.map((version) => ({ ...bundle, version }))))(
    "of $name writes and reads on Node.js $version",
    async ({ name, form, calls, version }) => {
      const client = await start(name, version, form());
      try {
        let answer = { isError: false, text: "" };
        for (const [tool, args] of calls) {
          answer = await callText(client, tool, args);
          expect(answer.isError, answer.text).toBe(false);
        }
        expect(answer.text).toContain("Ceres");
      } finally {
        await client.close();
      }
    },
  );
});

describe("a server", () => {
  /** A client of a built server that runs on a version of Node.js. */
  async function connect(version: number, bin: string, args: readonly string[], home: string) {
    const client = new Client({ name: "other-node", version: "1" });
    const command = await nodeOf(version);
    await client.connect(
      new StdioClientTransport({ command, args: [bin, ...args], env: { HOME: home }, cwd: home }),
    );
    return client;
  }

  // Version 12 of better-sqlite3, compiled for Node.js 24, ended a quarter of such reads.
  it.each(VERSIONS)(
    "in a clone reads SQLite 400 times on Node.js %s without a failure",
    async (version) => {
      const home = await mkdtemp(join(folder, "home-"));
      const db = join(home, "numbers.db");
      await writeFile(db, "");
      const client = await connect(version, serverBin("sqlite"), [`--db-path=${db}`], home);
      try {
        const query =
          "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 1000) SELECT n, 'row ' || n FROM t";
        const failures: string[] = [];
        for (let read = 0; read < 400; read++) {
          const { isError, text } = await callText(client, "read_query", { query });
          if (isError) failures.push(text);
        }
        expect(failures).toEqual([]);
      } finally {
        await client.close();
      }
    },
  );

  it(
    "in a clone is installed on Node.js 24 without a compiler, with a SQLite that runs",
    async () => {
      const clone = await cloneWorkspace({ whole: true });
      try {
        const { packageManager } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
        const path = `${dirname(await nodeOf(24))}${delimiter}${process.env.PATH}`;
        // npx wants a folder of global programs, which the package "node" lacks.
        const prefix = await mkdtemp(join(folder, "prefix-"));
        await mkdir(join(prefix, "lib"));
        const env = {
          ...process.env,
          PATH: path,
          npm_config_prefix: prefix,
          CC: "false",
          CXX: "false",
        };
        const install = ["-y", packageManager, "install", "--frozen-lockfile", "--prefer-offline"];
        const options = { cwd: clone.root, env, maxBuffer: 64 * 1_048_576 };
        const { stdout, stderr } = await execute("npx", install, options);
        expect(stdout + stderr).not.toMatch(/gyp|prebuild-install/);
        const code =
          "new (require('better-sqlite3'))(':memory:').prepare('SELECT 7 * 6').pluck().get()";
        const cwd = join(clone.root, "servers", "sqlite");
        expect((await execute(await nodeOf(24), ["-p", code], { cwd })).stdout).toBe("42\n");
      } finally {
        await clone.dispose();
      }
    },
    INSTALL_MS,
  );

  it.for([
    ["memory", "read_graph"],
    ["sqlite", "describe_tables"],
  ] as const)(
    "that an older Node.js installed: the %s server reports how to repair SQLite",
    async ([name, tool], ctx) => {
      const own = join(ROOT, "node_modules", "better-sqlite3-node20");
      if (!existsSync(own)) return ctx.skip("this Node.js runs version 13 of better-sqlite3");
      // As npx leaves it for the next version of Node.js.
      const home = await mkdtemp(join(folder, "home-"));
      const dist = join(home, "dist");
      await cp(dirname(serverBin(name)), dist, { recursive: true });
      await mkdir(join(home, "node_modules"));
      await symlink(await realpath(own), join(home, "node_modules", "better-sqlite3"));
      const file = join(home, "empty.db");
      await writeFile(file, "");
      const form = name === "sqlite" ? [`--db-path=${file}`] : [];
      const client = await connect(24, join(dist, "bin.js"), form, home);
      try {
        const { isError, text } = await callText(client, tool);
        expect(isError).toBe(true);
        expect(text).toMatch(
          /better-sqlite3 was built for another version of Node\.js; this is Node\.js 24\./,
        );
        expect(text).toMatch(
          /Run npm rebuild better-sqlite3 where this server is installed, with this Node\.js/,
        );
      } finally {
        await client.close();
      }
    },
  );
});
