// `pnpm generate`: writes everything that follows from the servers' definitions and option tables: the folders'
// indexes, the tables in the READMEs, docs/hosts.md and docs/size.md, and server.json for the MCP Registry. With `--check` it writes nothing, and fails if something is not current.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { indexFolders } from "./generate/index-files.mjs";
import { Pages, pageParts } from "./generate/pages.mjs";
import { registryEntry } from "./generate/registry-entry.mjs";
import { isCurrent, measure, sizePage } from "./generate/size-page.mjs";
import { describedServer } from "./generate/surface.mjs";
import { isPublished } from "./lib/published.mjs";
import { build, install, ROOT, serverNames, step } from "./lib/setup.mjs";

await install();
const pages = new Pages({ check: process.argv.includes("--check") });
const names = serverNames();
for (const name of names)
  await indexFolders(join(ROOT, "servers", name), (file, text) => pages.put(file, text));
await build();

/** @type {import("./generate/surface.mjs").Server[]} */
const servers = [];
await step("Asking the servers what they offer, and writing server.json", async () => {
  for (const name of names) {
    const server = await describedServer(name);
    servers.push(server);
    const entry = JSON.stringify(registryEntry(server), undefined, 2);
    await pages.put(join(server.folder, "server.json"), `${entry}\n`);
  }
  return 0;
});
await step("Filling the READMEs and docs/hosts.md", async () => {
  const parts = await pageParts(servers, { published: await isPublished() });
  for (const [page, ofPage] of Object.entries(parts)) await pages.fill(join(ROOT, page), ofPage);
  return 0;
});
await step("Counting lines for docs/size.md", async () => {
  const sizeFile = join(ROOT, "docs", "size.md");
  const before = await readFile(sizeFile, "utf8").catch(() => "");
  const { page, problems } = sizePage(await measure(), before);
  if (!isCurrent(before, page)) await pages.put(sizeFile, page);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
  return 0;
});
if (!pages.finish()) process.exitCode = 1;
