import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { describedServers, ROOT, SERVERS, serverFolder } from "../servers.ts";

const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
const PLUGIN = ".claude-plugin/plugin.json";

it("the plugin has the skills of every server, where they are", () => {
  const { skills }: { skills: string[] } = read(PLUGIN);
  expect(skills).toEqual(SERVERS.map((name) => `./servers/${name}/skills/`));
  for (const folder of skills) expect(readdirSync(join(ROOT, folder))).not.toEqual([]);
});

it.each([PLUGIN, "gemini-extension.json"])(
  "%s has the version of the package that it starts",
  (file) => {
    const { version, mcpServers } = read(file);
    expect(version).toBe(read("packages/refmcp/package.json").version);
    const [bin = ""]: string[] = mcpServers.refmcp.args;
    expect(existsSync(join(ROOT, bin.replace(/^\$\{\w+\}/, "")))).toBe(true);
  },
);

describe.each(SERVERS)("the skills of the %s server", (server) => {
  const folder = join(serverFolder(server), "skills");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const texts = names.map(
    (name) => [name, readFileSync(join(folder, name, "SKILL.md"), "utf8")] as const,
  );

  it("are at most two, and go into the package", () => {
    expect(names.length).toBeLessThanOrEqual(2);
    const { files }: { files: string[] } = JSON.parse(
      readFileSync(join(serverFolder(server), "package.json"), "utf8"),
    );
    expect(files).toContain("skills");
  });

  // Agent Skills specification, "Frontmatter": the limits of name and description.
  it.each(texts)("%s conforms to the Agent Skills specification", (name, text) => {
    const frontmatter = parse(/^---\n(.*?)\n---\n/s.exec(text)?.[1] ?? "");
    expect(frontmatter.name).toBe(name);
    expect(name).toMatch(/^(?!.*--)[a-z0-9][a-z0-9-]{0,62}[a-z0-9]$/);
    expect(frontmatter.description.length).toBeLessThanOrEqual(1_024);
    expect(frontmatter.description).toContain("Use ");
    expect(text.split("\n").length).toBeLessThan(500);
  });

  it.each(texts)("%s mentions only existing tools and arguments", async (_name, text) => {
    const servers = await describedServers();
    const tools = servers.find(({ name }) => name === server)?.tools ?? [];
    const known = new Set([
      ...tools.map((tool) => tool.name),
      ...tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties ?? {})),
    ]);
    const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, word = ""]) => word);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((word) => !known.has(word))).toEqual([]);
  });
});
