// `pnpm generate`: writes everything that follows from the servers' definitions and option tables: the folders'
// indexes, the tables in the READMEs, docs/hosts.md and docs/size.md, and server.json for the MCP Registry. With `--check` it writes nothing, and fails if something is not current.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { indexFolders } from "./generate/index-files.mjs";
import { Pages } from "./generate/pages.mjs";
import { pageParts } from "./generate/parts.mjs";
import { registryEntry } from "./generate/registry-entry.mjs";
import { isCurrent, measure, sizePage } from "./generate/size-page.mjs";
import { describedServer } from "./generate/surface.mjs";
import { isPublished } from "./lib/published.mjs";
import { build, install, ROOT, serverNames } from "./lib/setup.mjs";

await install();
const pages = new Pages({ check: process.argv.includes("--check") });
const names = serverNames();
for (const name of names)
  await indexFolders(join(ROOT, "servers", name), (file, text) => pages.put(file, text));
await build();

const servers = [];
for (const name of names) {
  const server = await describedServer(name);
  servers.push(server);
  const entry = JSON.stringify(registryEntry(server), undefined, 2);
  await pages.put(join(server.folder, "server.json"), `${entry}\n`);
}
const state = { published: await isPublished() };
const parts = await pageParts(servers, state);
for (const [page, ofPage] of Object.entries(parts)) await pages.fill(join(ROOT, page), ofPage);

const sizeFile = join(ROOT, "docs", "size.md");
const sizeBefore = await readFile(sizeFile, "utf8").catch(() => "");
const size = sizePage(await measure(), sizeBefore);
if (!isCurrent(sizeBefore, size.page)) await pages.put(sizeFile, size.page);
for (const problem of size.problems) process.stderr.write(`${problem}\n`);

if (!pages.finish() || size.problems.length > 0) process.exitCode = 1;
