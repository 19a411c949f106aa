// The generated parts of all pages that people wrote.
import { hostParts } from "./host-pages.mjs";
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
    "docs/hosts.md": await hostParts(servers, state),
  };
  for (const server of servers)
    pages[`servers/${server.name}/README.md`] = await readmeParts(server, state);
  return pages;
}
