import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, SERVERS, serverFolder } from "../servers.ts";

/** The files of a folder and all below it, relative to it; none where it does not exist. */
function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();
}

const isTest = (file: string) => file.endsWith(".test.ts");
const importsOf = (source: string) =>
  [...source.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name]) => name ?? "");

/** A source without its comments and without what its strings say, so that prose is not taken for code. */
const codeOf = (source: string) =>
  source.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`/g,
    (found) => (/^["'`]/.test(found) ? '""' : ""),
  );

/** The rooms of `src`; every other folder there is the domain, exactly one. */
const ROOMS = ["tools", "resources", "prompts"];
const FILES = ["bin.ts", "context.ts", "options.ts", "server.ts"];

describe.each(SERVERS)("the rooms of the %s server", (name) => {
  const folder = serverFolder(name);
  const source = join(folder, "src");
  const entries = readdirSync(source, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const domains = folders.filter((room) => !ROOMS.includes(room));
  const tools = filesOf(join(source, "tools")).filter((file) => !isTest(file) && file !== "index.ts");

  it("are those of every server, with one domain", () => {
    expect(
      entries
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
        .sort(),
    ).toEqual(FILES);
    expect(domains, "one folder holds the domain").toHaveLength(1);
    expect(folders).toContain("tools");
    for (const file of ["README.md", "package.json", "tsconfig.json", "vitest.config.ts", "demo.mjs"]) {
      expect(existsSync(join(folder, file)), file).toBe(true);
    }
    for (const file of ["contract.test.ts", "fixture.ts", "attacks.test.ts"]) {
      expect(existsSync(join(folder, "test", file)), `test/${file}`).toBe(true);
    }
    expect(existsSync(join(folder, "evals", "tasks.ts")), "evals/tasks.ts").toBe(true);
  });

  it("hold one tool a file, with its test beside it, in at most 80 lines", () => {
    for (const file of tools) {
      const text = readFileSync(join(source, "tools", file), "utf8");
      expect(text.split("\n").length - 1, file).toBeLessThanOrEqual(80);
      expect(text.match(/export default tool\(/g), `${file} defines one tool`).toHaveLength(1);
      expect(existsSync(join(source, "tools", file.replace(/\.ts$/, ".test.ts"))), `${file} has a test`).toBe(
        true,
      );
      expect(file).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*\.ts$/);
    }
  });

  it("keep protocol and casts out of tools, resources and prompts", () => {
    for (const room of ROOMS) {
      for (const file of filesOf(join(source, room)).filter((one) => !isTest(one))) {
        const text = readFileSync(join(source, room, file), "utf8");
        expect(codeOf(text).match(/\bas (?!const\b|\w+[,\s}]*from)\w/g), `${room}/${file} casts`).toBeNull();
        expect(
          importsOf(text).filter((from) => from.startsWith("@modelcontextprotocol")),
          `${room}/${file}`,
        ).toEqual([]);
        expect(text, `${room}/${file} names the protocol`).not.toMatch(
          /jsonrpc|structuredContent|isError|tools\/call/,
        );
      }
    }
  });

  it("keep the domain free of MCP", () => {
    for (const file of filesOf(join(source, domains[0] ?? ""))) {
      const text = readFileSync(join(source, domains[0] ?? "", file), "utf8");
      const foreign = importsOf(text).filter(
        (from) =>
          from === "@refmcp/core" ||
          from === "@refmcp/core/testing" ||
          from.startsWith("@modelcontextprotocol") ||
          /^\.\.\/(?:\.\.\/)*(?:tools|resources|prompts|context|server|bin|options)/.test(from),
      );
      expect(foreign, file).toEqual([]);
    }
  });

  it("write nothing to stdout", () => {
    for (const file of filesOf(source).filter((one) => !isTest(one))) {
      const text = readFileSync(join(source, file), "utf8");
      expect(text, file).not.toMatch(/console\.(log|info|debug)|process\.stdout/);
    }
  });

  it("are named as a published package", () => {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    expect(manifest).toMatchObject({
      name: `@refmcp/server-${name}`,
      type: "module",
      license: "MIT",
      engines: { node: ">=20.19" },
      bin: { [`refmcp-server-${name}`]: "dist/bin.js" },
      files: ["dist", "skills", "THIRD_PARTY_NOTICES", "sbom.cdx.json"],
      mcpName: `io.github.refmcp/server-${name}`,
    });
    expect(name).toMatch(/^[a-z]{2,20}$/);
  });
});

// Node.js loses a timeout that only AbortSignal.any() holds at the next garbage collection.
it("core and servers limit time with startDeadline, not with AbortSignal.timeout", () => {
  const users = ["packages", "servers"]
    .flatMap((folder) => filesOf(join(ROOT, folder)).map((file) => `${folder}/${file}`))
    .filter((file) => /^\w+\/[\w-]+\/src\/.*\.ts$/.test(file) && !isTest(file))
    .filter((file) => /AbortSignal\s*\.\s*timeout\b/.test(codeOf(readFileSync(join(ROOT, file), "utf8"))));
  expect(users).toEqual([]);
});

describe("core", () => {
  const source = join(ROOT, "packages", "core", "src");
  const read = (room: string) =>
    filesOf(join(source, room))
      .filter((file) => !isTest(file))
      .map((file) => ({ file: `${room}/${file}`, text: readFileSync(join(source, room, file), "utf8") }));

  /** Each may use those before it, also for types. */
  const LAYERS = [
    "crypto.ts",
    "trace.ts",
    "log.ts",
    "answer",
    "boundary",
    "define",
    "protocol",
    "bind",
    "transport",
    "launch",
  ];

  it("has layers, and imports go down only", () => {
    const layerOf = (file: string) => LAYERS.indexOf(file.split("/")[0] ?? "");
    const upward: string[] = [];
    for (const [own, layer] of LAYERS.entries()) {
      const files = layer.endsWith(".ts")
        ? [{ file: layer, text: readFileSync(join(source, layer), "utf8") }]
        : read(layer);
      for (const { file, text } of files) {
        const imported = importsOf(text).filter((from) => from.startsWith("."));
        for (const from of imported) {
          const target = posix.join(posix.dirname(file), from);
          if (layerOf(target) < 0 || layerOf(target) > own) upward.push(`${file} imports ${target}`);
        }
      }
    }
    expect(upward).toEqual([]);
  });

  it("runs without the SDK, which is the client and the oracle in tests", () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, "packages", "core", "package.json"), "utf8"));
    expect(
      Object.keys(manifest.dependencies).filter((name) => name.startsWith("@modelcontextprotocol")),
    ).toEqual([]);
    for (const { file, text } of LAYERS.filter((layer) => !layer.endsWith(".ts")).flatMap(read))
      expect(
        importsOf(text).filter((from) => from.startsWith("@modelcontextprotocol")),
        file,
      ).toEqual([]);
  });

  it("sets request handlers in bind only", () => {
    for (const { file, text } of [
      ...read("define"),
      ...read("serve"),
      ...read("boundary"),
      ...read("answer"),
    ]) {
      expect(text, file).not.toMatch(/setRequestHandler|registerTool|registerResource|registerPrompt/);
    }
  });

  it("exports about thirty names", () => {
    const index = readFileSync(join(source, "index.ts"), "utf8");
    const names = [...index.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list]) =>
      (list ?? "").split(",").filter((name) => name.trim() !== ""),
    );
    expect(names.length).toBeLessThanOrEqual(32);
  });
});
