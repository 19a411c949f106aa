// `npm start`: sets everything up, then plays the main job as a host would: starts every server over stdio, runs a
// real session on real input in a temporary folder, and ends with the configuration entry to paste.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, install, ROOT } from "./lib/setup.mjs";

await install();
await build();

const { bold, dim, green, perform, print } = await import("./lib/stage.mjs");
const servers = (await readdir(join(ROOT, "servers"))).sort();
const started = performance.now();
let calls = 0;
for (const name of servers) {
  const scene = join(ROOT, "servers", name, "scene.mjs");
  if (!existsSync(scene)) continue;
  calls += await perform(name, await import(pathToFileURL(scene).href));
}

const entry = (command, args) => ({ command, args });
const local = {};
const published = {};
for (const name of servers) {
  const manifest = JSON.parse(await readFile(join(ROOT, "servers", name, "package.json"), "utf8"));
  const args = manifest.refmcp?.exampleArguments ?? [];
  local[name] = entry("node", [join(ROOT, "servers", name, "dist", "bin.js"), ...args]);
  published[name] = entry("npx", ["-y", manifest.name, ...args]);
}
print(
  `\n${green("✓")} ${bold(`${servers.length === 1 ? "1 server" : `${servers.length} servers`}, ${calls} calls`)} in ${((performance.now() - started) / 1000).toFixed(1)} s, both protocol eras.`,
);
print(
  `\n${bold("To use this clone")}, paste into your host's configuration (Claude Desktop, Claude Code, Cursor, …):\n`,
);
print(JSON.stringify({ mcpServers: local }, undefined, 2));
print(`\n${bold("To use the published packages")}:\n`);
print(JSON.stringify({ mcpServers: published }, undefined, 2));
print(
  dim(
    `\nFor another host: node servers/${servers[0]}/dist/bin.js --print-config vscode (or codex, zed, gemini, windsurf, …).`,
  ),
);
