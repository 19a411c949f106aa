// Packs workspace packages as published.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../lib/setup.mjs";

const execute = promisify(execFile);

/**
 * Packs a workspace package.
 *
 * @param {string} folder the package's, for example `servers/git`
 * @param {string} destination an existing folder
 * @returns {Promise<string>} the tarball's path
 */
export async function pack(folder, destination) {
  const { packageManager } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const place = await mkdtemp(join(destination, "tarball-"));
  await execute("npx", ["-y", packageManager, "pack", "--pack-destination", place], {
    cwd: join(ROOT, folder),
    // npx is a batch file on Windows.
    shell: process.platform === "win32",
  });
  const [tarball] = await readdir(place);
  if (tarball === undefined) throw new Error(`Nothing was packed from ${folder}.`);
  return join(place, tarball);
}
