// `pnpm generate`: writes what a program can know of the servers, from their definitions and option tables: the rooms'
// indexes, the tables in the READMEs, docs/tools.md and docs/hosts.md, server.json for the MCP Registry and
// manifest.json for MCP bundles. With `--check` it writes nothing and fails where something is not current.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleManifest } from "./generate/bundle-manifest.mjs";
import { hostParts } from "./generate/host-pages.mjs";
import { packageManifest } from "./generate/package-manifest.mjs";
import { Pages } from "./generate/pages.mjs";
import { readmeParts, serversPart } from "./generate/readme.mjs";
import { registryEntry } from "./generate/registry-entry.mjs";
import { indexRooms } from "./generate/rooms.mjs";
import { toolsPage } from "./generate/tools-page.mjs";
import { command } from "./lib/bench-kit.mjs";
import { build, install, ROOT } from "./lib/setup.mjs";

await install();
const pages = new Pages({ check: process.argv.includes("--check") });
const names = (await readdir(join(ROOT, "servers"))).sort();
for (const name of names)
  await indexRooms(join(ROOT, "servers", name), (file, text) => pages.put(file, text));
await build();

const servers = [];
for (const name of names) {
  const folder = join(ROOT, "servers", name);
  const described = await command(process.execPath, [join(folder, "dist", "bin.js"), "--describe"]);
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  servers.push({ ...JSON.parse(described), folder, manifest });
}

for (const server of servers) {
  await pages.fill(join(server.folder, "README.md"), await readmeParts(server));
  await pages.put(join(server.folder, "package.json"), await packageManifest(server));
  await pages.putJson(join(server.folder, "server.json"), registryEntry(server));
  await pages.putJson(join(server.folder, "manifest.json"), bundleManifest(server));
}
await pages.fill(join(ROOT, "README.md"), { servers: await serversPart(servers) });
await pages.put(join(ROOT, "docs", "tools.md"), toolsPage(servers));
await pages.fill(join(ROOT, "docs", "hosts.md"), await hostParts(servers));

if (!pages.finish()) process.exitCode = 1;
