import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarballOf } from "../release/release.ts";
import { LIBRARIES, ROOT } from "../servers.ts";

const execute = promisify(execFile);
const npmQuiet = ["--no-audit", "--no-fund", "--loglevel=error"];
const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");

/** A third party's server in an empty folder: eleven lines. */
const SERVER = `import { defineServer, toolFor } from "@refmcp/core";
import { run } from "@refmcp/core/run";
import * as z from "zod";
const tool = toolFor<{ greeting: string }>();
const input = z.strictObject({ name: z.string().describe("Whom to greet, for example Ada.") });
const output = z.object({ text: z.string() });
const facts = { name: "hello_greet", title: "Greet", description: "Greet somebody by name." };
const greet = tool({ ...facts, effect: "read", openWorld: false, input, output, run: ({ name }, { greeting }) => ({ text: \`\${greeting}, \${name}.\` }) });
const about = { name: "hello", packageName: "hello-server", title: "Hello", version: "1.0.0" };
const texts = { description: "Greets people.", instructions: "Call hello_greet with a name." };
await run(defineServer({ ...about, ...texts, options: {}, tools: [greet], open: () => ({ greeting: "Hello" }) }));
`;

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-outside-"));
  const dependencies: Record<string, string> = {};
  for (const name of LIBRARIES) dependencies[`@refmcp/${name}`] = `file:${await tarballOf(name)}`;
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies }),
  );
  await execute("npm", ["install", ...npmQuiet, "@types/node@20"], {
    cwd: folder,
    shell: process.platform === "win32",
  });
  await writeFile(join(folder, "server.ts"), SERVER);
  await compile("server.ts");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Compiles files of the folder as a careful author would, checking libraries' types too. */
function compile(...files: readonly string[]) {
  const strict = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--skipLibCheck",
    "false",
  ];
  const target = ["--target", "es2023", "--module", "nodenext", "--types", "node"];
  return execute(process.execPath, [TSC, ...strict, ...target, ...files], { cwd: folder });
}

describe("a third-party server of eleven lines", () => {
  it("has eleven lines and nothing but the published packages", async () => {
    expect(SERVER.trimEnd().split("\n")).toHaveLength(11);
    const { dependencies } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    expect(Object.keys(dependencies)).toEqual([
      ...LIBRARIES.map((name) => `@refmcp/${name}`),
      "@types/node",
    ]);
  });

  it("compiles against the published types, which a wrong tool does not", async () => {
    const mistakes = [
      ["({ text: `", "({ texts: `"],
      ['effect: "read", ', ""],
      ["run: ({ name }", "run: ({ nam }"],
      ['({ greeting: "Hello" })', "({ greeting: 1 })"],
    ] as const;
    const files = mistakes.map((_, at) => `mistake-${at}.ts`);
    for (const [at, [from, to]] of mistakes.entries()) {
      expect(SERVER).toContain(from);
      await writeFile(join(folder, files[at] ?? ""), SERVER.replace(from, to));
    }
    const { stdout }: { stdout: string } = await compile(...files).catch((error) => error);
    for (const file of files) expect(stdout).toContain(`${file}(`);
  });

  it.each([["legacy"], [{ pin: "2026-07-28" }]] as const)(
    "answers a client of the era %j",
    async (mode) => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [join(folder, "server.js")],
      });
      const client = new Client(
        { name: "outside", version: "1" },
        { versionNegotiation: { mode } },
      );
      await client.connect(transport);
      try {
        expect(client.getServerVersion()).toMatchObject({ title: "Hello", version: "1.0.0" });
        const { tools } = await client.listTools();
        expect(tools).toMatchObject([{ name: "hello_greet", annotations: { readOnlyHint: true } }]);
        const answer = await client.callTool({ name: "hello_greet", arguments: { name: "Ada" } });
        expect(answer.structuredContent).toEqual({ text: "Hello, Ada." });
        const wrong = await client.callTool({ name: "hello_greet", arguments: { nam: "Ada" } });
        expect(wrong).toMatchObject({
          isError: true,
          content: [{ text: expect.stringContaining('"nam"') }],
        });
      } finally {
        await client.close();
      }
    },
  );

  it("has its own help and prints its entry", async () => {
    const { stdout } = await execute(process.execPath, [join(folder, "server.js"), "--help"]);
    expect(stdout).toContain("Greets people.");
    const entry = await execute(process.execPath, [join(folder, "server.js"), "--print-config"]);
    expect(JSON.parse(entry.stdout)).toHaveProperty("mcpServers.hello.command");
  });
});
