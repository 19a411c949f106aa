import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../servers.ts";

/**
 * Puts the workspace's better-sqlite3 12 into a folder as the archive that its installer finds before it asks GitHub. Where it
 * gets neither, it compiles for minutes. Version 13, which newer versions of Node.js get, has binaries in its package.
 *
 * @returns variables for npm
 */
export async function prebuilt(folder: string): Promise<Record<string, string>> {
  const manifest = join(ROOT, "node_modules", "better-sqlite3-node20", "package.json");
  if (!existsSync(manifest)) return {};
  const { version } = JSON.parse(await readFile(manifest, "utf8"));
  const machine = `node-v${process.versions.modules}-${process.platform}-${process.arch}`;
  const archive = join(folder, `better-sqlite3-v${version}-${machine}.tar.gz`);
  const file = "build/Release/better_sqlite3.node";
  await promisify(execFile)("tar", ["-czf", archive, "-C", dirname(manifest), file]);
  return { npm_config_better_sqlite3_local_prebuilds: folder };
}
