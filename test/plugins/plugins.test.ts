import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, SERVERS } from "../servers.ts";

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
