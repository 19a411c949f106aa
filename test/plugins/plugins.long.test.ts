import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { marketplaces, pluginFiles } from "../../scripts/generate/plugins.mjs";
import { pack } from "../../scripts/release/pack.mjs";
import { describedServers, ROOT, SERVERS } from "../servers.ts";
import { type Vendor, type VendorName, vendorOf } from "./vendors.ts";

const PLUGINS = ["refmcp", ...SERVERS.map((name) => `refmcp-${name}`)];
/** What the user gives to a server that cannot work without. */
const SETTINGS: Readonly<Record<string, string[]>> = {
  "refmcp-sqlite": ["--config", "dbPath=/data/app.db"],
  "refmcp-postgres": ["--config", "url=postgres://localhost/app"],
};
/** The name of the server that a plugin starts. */
const keyOf = (plugin: string) => plugin.replace(/^refmcp-/, "");

let folder = "";
/** A marketplace as after the release. */
let published = "";
const homes: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-plugins-"));
  published = join(folder, "published");
  const servers = await describedServers();
  const files = new Map<string, string | Uint8Array>();
  for (const [path, content] of await pluginFiles(servers, { published: true }))
    files.set(join("plugins", path), content);
  for (const [path, list] of Object.entries(marketplaces(servers)))
    files.set(path, JSON.stringify(list));
  for (const [path, content] of files) {
    await mkdir(dirname(join(published, path)), { recursive: true });
    await writeFile(join(published, path), content);
  }
});
afterAll(async () => {
  for (const place of [folder, ...homes]) await rm(place, { recursive: true, force: true });
});

/** A vendor's program with a new home, for the tests of a suite, which are skipped where it cannot be installed. */
function useVendor(name: VendorName) {
  let found: Vendor | string = "";
  beforeAll(async () => {
    found = await vendorOf(name);
    if (typeof found !== "string") homes.push(found.home);
  }, 600_000);
  return ({ skip }: { skip: (reason: string) => never }): Vendor =>
    typeof found === "string" ? skip(found) : found;
}

const printing = (text: string | RegExp) => ({
  code: 0,
  output: typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text),
});
const skillsOf = (plugin: string) => readdir(join(ROOT, "plugins", plugin, "skills"));

describe.each(["from a clone", "from npm"])("Claude Code, with servers %s,", (state) => {
  const vendor = useVendor("claude");
  const root = () => (state === "from npm" ? published : ROOT);

  it("accepts the marketplace", async (ctx) => {
    const { run } = vendor(ctx);
    expect(await run("plugin", "validate", "--strict", root())).toMatchObject(
      printing("Validation passed"),
    );
  });

  // A submission to the plugin directory also needs the license in the repository's root.
  it.for(PLUGINS)("accepts the plugin %s", async (plugin, ctx) => {
    const profile = state === "from npm" ? [] : ["--profile", "directory"];
    const args = ["plugin", "validate", "--strict", ...profile, join(root(), "plugins", plugin)];
    expect(await vendor(ctx).run(...args)).toMatchObject(printing("Validation passed"));
  });
});

describe("Claude Code", () => {
  const vendor = useVendor("claude");

  it("installs every plugin of the clone, with its skills, and its servers answer in the project", async (ctx) => {
    const { run, project } = vendor(ctx);
    expect(await run("plugin", "marketplace", "add", ROOT)).toMatchObject(
      printing("Successfully added"),
    );
    for (const plugin of PLUGINS) {
      const installed = await run(
        "plugin",
        "install",
        `${plugin}@refmcp`,
        ...(SETTINGS[plugin] ?? []),
      );
      expect(installed, plugin).toMatchObject(printing("Successfully installed"));
      const details = await run("plugin", "details", plugin);
      for (const skill of await skillsOf(plugin)) expect(details).toMatchObject(printing(skill));
    }
    const { output } = await run("mcp", "list");
    for (const plugin of PLUGINS)
      expect(output).toMatch(
        new RegExp(`^plugin:${plugin}:${keyOf(plugin)}: node .* Connected$`, "m"),
      );
    for (const plugin of ["refmcp", "refmcp-git", "refmcp-filesystem"])
      expect(output).toMatch(new RegExp(`^plugin:${plugin}:.*bin\\.js ${project} `, "m"));
  });

  it("runs a published plugin with npx, from the package that npm has", async (ctx) => {
    const tarball = await readFile(await pack("servers/git", folder));
    const { version } = JSON.parse(
      await readFile(join(ROOT, "servers", "git", "package.json"), "utf8"),
    );
    const asked: string[] = [];
    const registry = createServer(({ url = "" }, response) => {
      asked.push(url);
      if (url.endsWith(".tgz")) return void response.end(tarball);
      if (!/^\/@refmcp(%2f|\/)server-git$/i.test(url))
        return void response.writeHead(404).end("{}");
      const bin = { "refmcp-server-git": "dist/bin.js" };
      const dist = { tarball: `http://${registryHost()}/git.tgz` };
      const name = "@refmcp/server-git";
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          name,
          "dist-tags": { latest: version },
          versions: { [version]: { name, version, bin, dist } },
        }),
      );
    });
    const registryHost = () => {
      const address = registry.address();
      return `127.0.0.1:${typeof address === "object" ? address?.port : address}`;
    };
    await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
    const local = await vendorOf("claude", { npm_config_registry: `http://${registryHost()}` });
    try {
      if (typeof local === "string") return ctx.skip(local);
      homes.push(local.home);
      await local.run("plugin", "marketplace", "add", published);
      const installed = await local.run("plugin", "install", "refmcp-git@refmcp");
      expect(installed).toMatchObject(printing("Successfully installed"));
      const { output } = await local.run("mcp", "list");
      expect(output).toMatch(/^plugin:refmcp-git:git: npx -y @refmcp\/server-git .*Connected$/m);
      expect(asked).toContain("/git.tgz");
    } finally {
      registry.close();
    }
  });
});

describe("Copilot CLI", () => {
  const vendor = useVendor("copilot");

  it("installs every plugin of the clone, with its skills and its server", async (ctx) => {
    const { run } = vendor(ctx);
    expect(await run("plugin", "marketplace", "add", ROOT)).toMatchObject(
      printing("added successfully"),
    );
    for (const plugin of PLUGINS) {
      const { length } = await skillsOf(plugin);
      expect(await run("plugin", "install", `${plugin}@refmcp`)).toMatchObject(
        printing(`Installed ${length} skill`),
      );
      const server = await run("mcp", "get", keyOf(plugin));
      expect(server).toMatchObject(printing(/Status: Enabled/));
      expect(server).toMatchObject(printing(`Source plugin: ${plugin} (`));
    }
  });
});

describe("Codex", () => {
  const vendor = useVendor("codex");

  it("installs every plugin, with its skills and, from npm, its server", async (ctx) => {
    const { run, home } = vendor(ctx);
    expect(await run("plugin", "marketplace", "add", published)).toMatchObject(
      printing("Added marketplace"),
    );
    for (const plugin of PLUGINS) {
      expect(await run("plugin", "add", `${plugin}@refmcp`)).toMatchObject(
        printing("Added plugin"),
      );
      const cache = join(home, ".codex", "plugins", "cache", "refmcp", plugin);
      const [version = ""] = await readdir(cache);
      expect((await readdir(join(cache, version, "skills"))).sort()).toEqual(
        (await skillsOf(plugin)).sort(),
      );
    }
    const { output } = await run("mcp", "list");
    for (const plugin of PLUGINS) {
      const name = plugin === "refmcp" ? "refmcp" : `@refmcp/server-${keyOf(plugin)}`;
      expect(output).toMatch(new RegExp(`^${keyOf(plugin)} +npx +-y ${name} .*enabled`, "m"));
    }
  });
});

describe("Gemini CLI", () => {
  const vendor = useVendor("gemini");

  it.for(PLUGINS)("accepts the extension %s, before and after the release", async (plugin, ctx) => {
    const { run } = vendor(ctx);
    for (const root of [ROOT, published])
      expect(await run("extensions", "validate", join(root, "plugins", plugin))).toMatchObject(
        printing("successfully validated"),
      );
  });

  it("links what the release has as an asset, with its skills", async (ctx) => {
    const { run } = vendor(ctx);
    const source = join(published, "plugins", "refmcp");
    const linked = await run("extensions", "link", source, "--consent");
    expect(linked).toMatchObject(printing("linked successfully"));
    const { output } = await run("extensions", "list");
    for (const skill of await skillsOf("refmcp")) expect(output).toContain(`${skill}:`);
    await run("extensions", "uninstall", "refmcp");
  });

  it("links the clone's extensions, whose servers answer in the project", async (ctx) => {
    const { run, project } = vendor(ctx);
    for (const plugin of ["refmcp", "refmcp-git"]) {
      const linked = await run("extensions", "link", join(ROOT, "plugins", plugin), "--consent");
      expect(linked).toMatchObject(printing("linked successfully"));
    }
    const { output } = await run("mcp", "list");
    expect(output).toMatch(
      new RegExp(`refmcp \\(from refmcp\\): node .*bin\\.js ${project} .*Connected`),
    );
    expect(output).toMatch(
      new RegExp(`git \\(from refmcp-git\\): node .*bin\\.js ${project} .*Connected`),
    );
  });
});
