// Whether the packages are on npm. Until then no page may tell a reader to run `npx -y @refmcp/…`: the name is free, so
// the command would run a package that somebody else publishes there.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "./setup.mjs";

/**
 * `refmcp.published` in the workspace's package.json, which decides what the generated pages say.
 *
 * @param {string} [root] the workspace
 * @returns {Promise<boolean>}
 */
export async function isPublished(root = ROOT) {
  return JSON.parse(await readFile(join(root, "package.json"), "utf8")).refmcp.published;
}

/**
 * Sets the flag permanently; a release does so before it writes the pages.
 *
 * @param {string} [root] the workspace
 */
export async function markPublished(root = ROOT) {
  const file = join(root, "package.json");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace('"published": false', '"published": true'));
}
