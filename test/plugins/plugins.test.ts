import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { marketplaces, pluginFiles } from "../../scripts/generate/plugins.mjs";
import { describedServers, ROOT, SERVERS, serverFolder } from "../servers.ts";
import { cursorMarketplace, cursorPlugin } from "./cursor.ts";

const ALL = "refmcp";
const NAMES = [ALL, ...SERVERS.map((name) => `refmcp-${name}`)];
const MANIFESTS = [
  ".claude-plugin/plugin.json",
  ".codex-plugin/plugin.json",
  ".cursor-plugin/plugin.json",
  ".github/plugin/plugin.json",
  "gemini-extension.json",
];
/** What a host replaces in an entry. */
const PLACEHOLDER = /\$\{([^}]+)\}/g;

const manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  description: z.string().min(1),
  mcpServers: z
    .record(
      z.string(),
      z.strictObject({
        command: z.enum(["node", "npx"]),
        args: z.array(z.string()),
        env: z.record(z.string(), z.string()).optional(),
        env_vars: z.array(z.string()).optional(),
      }),
    )
    .optional(),
});

const servers = await describedServers();
const [before, after] = await Promise.all(
  [false, true].map((published) => pluginFiles(servers, { published })),
);
const textOf = (files: ReadonlyMap<string, string | Uint8Array> | undefined, path: string) =>
  Buffer.from(files?.get(path) ?? "").toString();
const entriesOf = (files: typeof before, path: string) =>
  Object.entries(manifest.parse(JSON.parse(textOf(files, path))).mcpServers ?? {});

it("every plugin is in each marketplace, and nothing else is in plugins/", () => {
  expect(readdirSync(join(ROOT, "plugins")).sort()).toEqual(NAMES.toSorted());
  for (const [file, list] of Object.entries(marketplaces(servers))) {
    expect(JSON.parse(readFileSync(join(ROOT, file), "utf8"))).toEqual(list);
    const { plugins } = z
      .object({ plugins: z.array(z.object({ name: z.string(), source: z.string() })) })
      .parse(list);
    expect(plugins.map(({ name, source }) => [name, source])).toEqual(
      NAMES.map((name) => [name, `./plugins/${name}`]),
    );
  }
});

it("Cursor accepts its marketplace", () => {
  cursorMarketplace.parse(marketplaces(servers)[".cursor-plugin/marketplace.json"]);
});

describe.each(NAMES)("the plugin %s", (name) => {
  const own = name === ALL ? SERVERS : SERVERS.filter((server) => name === `refmcp-${server}`);

  it("has a copy of each skill of its servers", () => {
    const skills = own.flatMap((server) => {
      const folder = join(serverFolder(server), "skills");
      return readdirSync(folder).map((skill) => [skill, join(folder, skill, "SKILL.md")] as const);
    });
    expect(skills.length).toBeGreaterThan(0);
    expect(readdirSync(join(ROOT, "plugins", name, "skills")).sort()).toEqual(
      skills.map(([skill]) => skill).sort(),
    );
    for (const [skill, source] of skills)
      expect(readFileSync(join(ROOT, "plugins", name, "skills", skill, "SKILL.md"), "utf8")).toBe(
        readFileSync(source, "utf8"),
      );
  });

  it.each(MANIFESTS)("starts the clone before the release, and nothing from npm: %s", (file) => {
    const entries = entriesOf(before, `${name}/${file}`);
    // Codex and Cursor copy a plugin and have no variable for its folder.
    expect(entries).toHaveLength(/codex|cursor/.test(file) ? 0 : 1);
    for (const [, { command, args }] of entries) {
      expect(command).toBe("node");
      const bin = args[0]?.replace(PLACEHOLDER, join(ROOT, "plugins", name)) ?? "";
      expect(existsSync(join(bin, "..", "..", "package.json")), bin).toBe(true);
      expect(bin).toMatch(/[\\/]dist[\\/]bin\.js$/);
    }
    expect(textOf(before, `${name}/${file}`)).not.toContain("npx");
    expect(textOf(before, `${name}/README.md`)).not.toContain("npx");
  });

  it.each(MANIFESTS)("starts the package after the release: %s", (file) => {
    const entries = entriesOf(after, `${name}/${file}`);
    const expected = name === ALL ? ["refmcp", "refmcp"] : [own[0], `@refmcp/server-${own[0]}`];
    expect(entries.map(([key, { command, args }]) => [key, command, ...args.slice(0, 2)])).toEqual([
      [expected[0], "npx", "-y", expected[1]],
    ]);
    const whole = textOf(after, `${name}/${file}`);
    expect(whole).not.toMatch(/dist\/bin\.js|PLUGIN_ROOT|extensionPath/);
    // Only what the host replaces. The user's own values are declared in the manifest.
    const declared = Object.keys(Object(JSON.parse(whole)).userConfig ?? {}).map(
      (key) => `user_config.${key}`,
    );
    const known = ["CLAUDE_PROJECT_DIR", "workspacePath", "workspaceFolder", ...declared];
    const used = [...whole.matchAll(PLACEHOLDER)].map(([, variable = ""]) => variable);
    expect(
      used.filter((variable) => !known.includes(variable) && !/^(env:)?REFMCP_/.test(variable)),
    ).toEqual([]);
  });

  it("asks for nothing that its server does not have", () => {
    const variables = servers.flatMap(({ options }) =>
      options.flatMap((option: { variables: string[] }) => option.variables),
    );
    for (const file of MANIFESTS)
      for (const [, { env = {}, env_vars = [] }] of entriesOf(after, `${name}/${file}`))
        for (const variable of [...Object.keys(env), ...env_vars])
          expect(variables).toContain(variable);
  });

  it("is accepted by Cursor", () => {
    for (const files of [before, after])
      cursorPlugin.parse(JSON.parse(textOf(files, `${name}/.cursor-plugin/plugin.json`)));
  });
});
