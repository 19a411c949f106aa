import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  getMcpConfigForManifest,
  MANIFEST_SCHEMAS,
  type McpbManifestAny,
  type McpbUserConfigValues,
  unpackExtension,
} from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeBundle } from "../../scripts/release/bundle.mjs";
import { SERVERS, serverFolder } from "../servers.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-bundles-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const manifestOf = async (name: string) =>
  MANIFEST_SCHEMAS["0.3"].parse(
    JSON.parse(await readFile(join(serverFolder(name), "manifest.json"), "utf8")),
  );

/** What a user fills into the form: a directory for every field that takes one, a text for every required one. */
function filledIn(manifest: McpbManifestAny): McpbUserConfigValues {
  return Object.fromEntries(
    Object.entries(manifest.user_config ?? {})
      .filter(([, field]) => field.type === "directory" || field.required === true)
      .map(([key, { type, multiple }]) => {
        const value = type === "directory" ? folder : "postgres://nobody@localhost:1/nothing";
        return [key, multiple === true ? [value] : value];
      }),
  );
}

describe.each(SERVERS)("the bundle of the %s server", (name) => {
  it("has a manifest that the official packer takes, with a field for all it names", async () => {
    const manifest = await manifestOf(name);
    const named = [...JSON.stringify(manifest.server).matchAll(/\$\{user_config\.(\w+)\}/g)].map(
      ([, key]) => key,
    );
    expect(named.toSorted()).toEqual(Object.keys(manifest.user_config ?? {}).sort());
    for (const [key, field] of Object.entries(manifest.user_config ?? {})) {
      // A placeholder that the user may leave out would reach the server as it is.
      expect(field.required === true || field.default !== undefined, key).toBe(true);
      expect(field.sensitive ?? false, key).toBe(/password|postgres:\/\//.test(field.description));
    }
  });

  it("packs, unpacks, and starts as a host starts it", { timeout: 600_000 }, async () => {
    // No server loads a native part before the first call.
    const bundle = await makeBundle(name, folder, { dependencies: false });
    const unpacked = join(folder, name);
    expect(await unpackExtension({ mcpbPath: bundle, outputDir: unpacked, silent: true })).toBe(true);
    const manifest: McpbManifestAny = JSON.parse(await readFile(join(unpacked, "manifest.json"), "utf8"));
    const config = await getMcpConfigForManifest({
      manifest,
      extensionPath: unpacked,
      systemDirs: {},
      userConfig: filledIn(manifest),
      pathSeparator: "/",
    });
    if (config === undefined) throw new Error("the form is not filled in");
    expect(JSON.stringify(config)).not.toContain("${");
    const client = new Client({ name: "bundle", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: config.command,
        args: config.args ?? [],
        env: { PATH: process.env.PATH ?? "", HOME: folder, ...config.env },
        cwd: folder,
      }),
    );
    try {
      expect(client.getServerVersion()?.version).toBe(manifest.version);
      const listed = (await client.listTools()).tools.map((tool) => tool.name);
      expect(manifest.tools?.map((tool) => tool.name)).toEqual(expect.arrayContaining(listed));
    } finally {
      await client.close();
    }
  });
});

it("does not start without what the form demands", async () => {
  const manifest = await manifestOf("filesystem");
  const config = { manifest, extensionPath: folder, systemDirs: {}, pathSeparator: "/" };
  expect(await getMcpConfigForManifest({ ...config, userConfig: {} })).toBeUndefined();
});
