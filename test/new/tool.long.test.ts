import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SERVERS } from "../servers.ts";
import { cloneWorkspace } from "./clone.ts";

it("pnpm new tool works in every server, whatever its toolsets and fixture", {
  timeout: 900_000,
}, async () => {
  const clone = await cloneWorkspace({ whole: true });
  try {
    // One process for all, which writes the pages once.
    const script = `
      const { addTool } = await import("./scripts/new/tool.mjs");
      const { generate } = await import("./scripts/new/gate.mjs");
      const toolsets = {};
      for (const server of process.argv.slice(1)) ({ toolset: toolsets[server] } = await addTool(server, server + "_sample"));
      await generate();
      process.stdout.write(JSON.stringify(toolsets));`;
    const names = [...SERVERS];
    const { stdout } = await clone.run(
      ".",
      process.execPath,
      "--input-type=module",
      "--eval",
      script,
      ...names,
    );
    // Those of git and filesystem offer as many tools as they may by default.
    expect(JSON.parse(stdout)).toEqual({ filesystem: "extra", git: "extra", postgres: "data" });
    for (const name of names) {
      const readme = await readFile(join(clone.root, "servers", name, "README.md"), "utf8");
      expect(readme).toContain(`| \`${name}_sample\``);
    }
    const status = await clone.status();
    expect(status.filter((line) => line.includes("src/tools/")).length).toBe(3 * names.length);
    expect(status.filter((line) => line.includes("src/server.ts"))).toEqual([
      " M servers/filesystem/src/server.ts",
    ]);
    await clone.node(
      "node_modules/@biomejs/biome/bin/biome",
      "ci",
      "--error-on-warnings",
      "servers",
    );
  } finally {
    await clone.dispose();
  }
});
