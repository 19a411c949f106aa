import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import {
  getMcpConfigForManifest,
  type McpbUserConfigValues,
  unpackExtension,
} from "@anthropic-ai/mcpb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SERVERS, serverFolder } from "../servers.ts";
import { callText, readManifest, startBundle } from "./bundle-kit.ts";
import { bundleOf, sectionsOf } from "./release.ts";

/** With the Node.js that runs the tests. */
const PATH = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`;
/** The platforms that a bundle declares. */
const PLATFORMS = ["darwin", "linux", "win32"] as const;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-bundles-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(SERVERS)("the bundle of the %s server", (name) => {
  const at = (...path: string[]) => join(folder, name, ...path);
  /** Its tools with all switches of the form off. */
  let offered: string[] = [];

  beforeAll(async () => {
    const mcpbPath = await bundleOf(name);
    expect(await unpackExtension({ mcpbPath, outputDir: at(), silent: true })).toBe(true);
    offered = await toolsWith();
  });

  /** A user's input in the form: the required fields, and the named switches. */
  async function form(...on: string[]): Promise<McpbUserConfigValues> {
    const { user_config: fields = {} } = await readManifest(at());
    const values: McpbUserConfigValues = {};
    for (const [key, { type, required, multiple }] of Object.entries(fields)) {
      if (type === "boolean") values[key] = on.includes(key);
      else if (type === "directory") values[key] = multiple === true ? [folder] : folder;
      else if (required === true)
        values[key] = type === "file" ? at("some.db") : "postgres://nobody@localhost:1/nothing";
    }
    return values;
  }

  async function toolsWith(...on: string[]): Promise<string[]> {
    const client = await startBundle(at(), { form: await form(...on), path: PATH, home: folder });
    try {
      expect(client.getServerVersion()?.version).toBe((await readManifest(at())).version);
      return (await client.listTools()).tools.map((tool) => tool.name);
    } finally {
      await client.close();
    }
  }

  const switches = async () =>
    Object.entries((await readManifest(at())).user_config ?? {})
      .filter(([, { type }]) => type === "boolean")
      .map(([key]) => key);

  it("has a manifest with a field for everything it uses, and a value for every field", async () => {
    const manifest = await readManifest(at());
    const named = [...JSON.stringify(manifest.server).matchAll(/\$\{user_config\.(\w+)\}/g)].map(
      ([, key]) => key,
    );
    expect(named.toSorted()).toEqual(Object.keys(manifest.user_config ?? {}).sort());
    for (const [key, field] of Object.entries(manifest.user_config ?? {})) {
      // An optional placeholder would reach the server unresolved.
      expect(field.required === true || field.default !== undefined, key).toBe(true);
      expect(field.sensitive ?? false, key).toBe(/password|postgres:\/\//.test(field.description));
    }
  });

  it("has only switches that change its tools", async () => {
    // This one is about what a tool of another switch accepts.
    const keys = (await switches()).filter((key) => key !== "allowDdl");
    for (const key of keys) expect(await toolsWith(key), key).not.toEqual(offered);
  });

  it("lists the tools that its form can switch on", async () => {
    const { tools = [] } = await readManifest(at());
    const on = (await switches()).filter((key) => key !== "readOnly");
    const most = on.length === 0 ? offered : await toolsWith(...on);
    expect(most.toSorted()).toEqual(tools.map((tool) => tool.name).toSorted());
  });

  it("is for all platforms, and has the binaries of all of them", async () => {
    const { compatibility } = await readManifest(at());
    expect(compatibility?.platforms).toEqual(PLATFORMS);
    const binaries = (await filesOf(at())).filter((file) => file.endsWith(".node"));
    if (binaries.length === 0) return;
    for (const platform of PLATFORMS)
      for (const arch of ["x64", "arm64"])
        expect(binaries.filter((file) => file.endsWith(`${platform}-${arch}.node`))).toHaveLength(
          1,
        );
  });

  it("has what is needed to run, and no sources, objects, types or test extensions", async () => {
    const files = await filesOf(at());
    expect(files).toEqual(
      expect.arrayContaining(["LICENSE", "README.md", "dist/bin.js", "dist/server.js", "icon.png"]),
    );
    const superfluous =
      /\.(c|cc|cpp|h|hpp|gypi?|o|a|map|[cm]?ts)$|test_extension|(^|\/)(deps|build|src)\//;
    expect(files.filter((file) => superfluous.test(file))).toEqual([]);
  });

  it("has the licenses of everything inside", async () => {
    const text = await readFile(at("THIRD_PARTY_NOTICES"), "utf8");
    const built = await readFile(join(serverFolder(name), "THIRD_PARTY_NOTICES"), "utf8");
    expect(text.startsWith(built)).toBe(true);
    const sections = sectionsOf(text.slice(built.length));
    const files = await filesOf(at());
    const packages = files.flatMap(
      (file) => /^node_modules\/((@[^/]+\/)?[^/]+)\/package\.json$/.exec(file)?.[1] ?? [],
    );
    expect(sections.size).toBe(packages.length);
    for (const dependency of packages) {
      const { version } = JSON.parse(
        await readFile(at("node_modules", dependency, "package.json"), "utf8"),
      );
      const license =
        files.find((file) =>
          new RegExp(`^node_modules/${dependency}/licen[cs]e`, "i").test(file),
        ) ?? "";
      const own = (await readFile(at(license), "utf8")).replaceAll("\r\n", "\n").trim();
      expect(sections.get(`${dependency} ${version}`), dependency).toContain(own);
    }
  });

  it("has a square icon of 512 pixels and less than 20 kB", async () => {
    const { icon = "", icons } = await readManifest(at());
    expect(icons).toEqual([{ src: icon, size: "512x512" }]);
    const png = await readFile(at(icon));
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([512, 512]);
    expect(png.length).toBeLessThan(20_000);
  });

  // The two servers with a native module.
  if (name === "sqlite" || name === "memory")
    it("opens a database, or reports that this Node.js is too old for its binaries", async () => {
      const client = await startBundle(at(), {
        form: await form("allowWrite", "allowDdl"),
        path: PATH,
        home: folder,
      });
      try {
        const call: [string, object] =
          name === "memory"
            ? ["read_graph", {}]
            : ["execute", { statements: ["CREATE TABLE t (a)"] }];
        const { isError, text } = await callText(client, call[0], { ...call[1] });
        if (Number(process.versions["napi"]) >= 10) expect(isError, text).toBe(false);
        else
          expect(text).toMatch(
            /^better-sqlite3 13\.\S+ needs Node\.js 22\.14 or newer; this is Node\.js \d/,
          );
      } finally {
        await client.close();
      }
    });
});

it("a bundle does not start without its required values", async () => {
  const manifest = await readManifest(join(folder, "filesystem"));
  const config = { manifest, extensionPath: folder, systemDirs: {}, pathSeparator: "/" };
  expect(await getMcpConfigForManifest({ ...config, userConfig: {} })).toBeUndefined();
});

/** All files below a folder, as paths with slashes. */
async function filesOf(from: string): Promise<string[]> {
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(from.length + 1)
        .replaceAll("\\", "/"),
    );
}
