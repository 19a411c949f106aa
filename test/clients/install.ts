import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { npmPackages } from "../../scripts/lib/npm-programs.mjs";
import { ROOT } from "../servers.ts";
import { SDKS, versionOf } from "./clients.ts";

/** The files that determine which packages are installed. */
const FILES = ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"];

/** Installs the clients from the lockfile, unless they are in the cache, and copies the drivers to that folder. */
export async function installClients(): Promise<string> {
  const texts = await Promise.all(FILES.map((file) => readFile(new URL(file, import.meta.url))));
  const hash = createHash("sha256").update(process.version);
  for (const text of texts) hash.update(text);
  const folder = join(
    ROOT,
    "node_modules",
    ".cache",
    "refmcp-clients",
    hash.digest("hex").slice(0, 16),
  );
  const done = join(folder, ".done");
  if (!existsSync(done)) {
    await mkdir(folder, { recursive: true });
    for (const file of FILES) await cp(new URL(file, import.meta.url), join(folder, file));
    const { packageManager } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    // This also completes an installation that was interrupted.
    const install = ["install", "--frozen-lockfile", "--ignore-scripts", "--prefer-offline"];
    // npx is a batch file on Windows.
    const shell = process.platform === "win32";
    await promisify(execFile)("npx", ["-y", packageManager, ...install], { cwd: folder, shell });
    await writeFile(done, "");
  }
  return withDrivers(folder);
}

/** Installs the clients of the SDK only, from npm, and copies the drivers to that folder. */
export async function installSdks(): Promise<string> {
  const packages = { zod: versionOf("zod") };
  for (const { argument, version } of SDKS) Object.assign(packages, { [argument]: version });
  return withDrivers(join((await npmPackages(packages))("."), ".."));
}

/** Node.js looks for packages next to the file that imports them. */
async function withDrivers(folder: string): Promise<string> {
  await cp(new URL("drivers", import.meta.url), join(folder, "drivers"), { recursive: true });
  return folder;
}
