// The checks for a new server. Each ends the process if it fails, with its output.
import { join } from "node:path";
import { ROOT, run, step } from "../lib/setup.mjs";

/** @type {(script: string, args: string[], options?: { cwd: string, env?: NodeJS.ProcessEnv }) => Promise<number>} */
const node = (script, args, options) =>
  run(process.execPath, [script, ...args], { quiet: true, ...options });

/** Formats and lints files and folders. @param {string[]} paths */
export function format(...paths) {
  const biome = join(ROOT, "node_modules", "@biomejs", "biome", "bin", "biome");
  return step("Formatting", () =>
    node(biome, ["check", "--write", "--error-on-warnings", ...paths]),
  );
}

/** Builds one server. @param {string} folder */
export function bundle(folder) {
  return step("Building", () => node(join(ROOT, "scripts", "bundle.mjs"), [], { cwd: folder }));
}

/** Checks one server's types. @param {string} folder */
export function typecheck(folder) {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  return step("Checking types", () => node(tsc, ["-p", "tsconfig.json"], { cwd: folder }));
}

/**
 * Runs a server's tests, and writes the snapshots of its surface.
 *
 * @param {string} folder
 * @param {string[]} files
 */
export function test(folder, ...files) {
  const vitest = join(folder, "node_modules", "vitest", "vitest.mjs");
  const { CI, ...env } = process.env;
  return step("Testing", () => node(vitest, ["run", "--update", ...files], { cwd: folder, env }));
}

/** Writes the pages, with a line for each of its steps. */
export async function generate() {
  const code = await run(process.execPath, [join(ROOT, "scripts", "generate.mjs")]);
  if (code !== 0) process.exit(code);
}
