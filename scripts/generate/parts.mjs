// The generated parts of all pages that people wrote.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { hostParts } from "./host-pages.mjs";
import { httpParts } from "./http-page.mjs";
import { judgeParts } from "./judge-page.mjs";
import { migrationParts } from "./migration.mjs";
import { readmeParts, rootParts } from "./readme.mjs";

/**
 * @param {import("./surface.mjs").Server[]} servers
 * @param {import("./surface.mjs").State} state
 * @returns {Promise<Record<string, Record<string, string>>>} page → name of the part → text
 */
export async function pageParts(servers, state) {
  /** @type {Record<string, Record<string, string>>} */
  const pages = {
    "README.md": await rootParts(servers, state),
    "docs/faq.md": { windows: await windowsTable() },
    "docs/hosts.md": await hostParts(servers, state),
    "docs/http.md": httpParts(servers),
    "docs/judge.md": await judgeParts(state),
    "docs/migration.md": await migrationParts(servers, state),
  };
  for (const server of servers)
    pages[`servers/${server.name}/README.md`] = await readmeParts(server, state);
  return pages;
}

/** How many tools of each server answered under Wine, which test/windows compares. */
async function windowsTable() {
  /** @type {Record<string, number>} */
  // A clone of core and one server, in which pnpm new is tested, has no such tests.
  const ran = JSON.parse(
    await readFile(join(ROOT, "test", "windows", "ran.json"), "utf8").catch(() => "{}"),
  );
  const rows = Object.entries(ran).map(([name, tools]) => `| ${name} | ${tools} |`);
  return ["| Server | Tools called on Windows |", "| --- | --- |", ...rows].join("\n");
}
