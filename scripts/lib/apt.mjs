// Installs programs that tests and demos need, on Debian and its descendants.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Installs packages by apt: as root only (a container, CI), never through sudo, and not if the user said
 * `--no-system-packages`. The exact command and its size are announced first. One process at a time; the caller checks whether
 * the program then exists.
 *
 * @param {readonly string[]} packages
 * @param {{ say: (line: string) => void, env?: NodeJS.ProcessEnv, apt?: string, isRoot?: boolean }} options
 * @returns {Promise<string | undefined>} why nothing was installed
 * @throws in CI if apt fails: tests that need the program must not be skipped there
 */
export async function aptInstall(
  packages,
  { say, env = process.env, apt = "/usr/bin/apt-get", isRoot = process.getuid?.() === 0 },
) {
  if (process.platform !== "linux" || !existsSync(apt)) return "this system has no apt";
  if (!isRoot) return "apt is used only as root";
  if (env.REFMCP_NO_SYSTEM_PACKAGES === "1") return "--no-system-packages was given";
  const options = {
    // RUNLEVEL: packages do not start their services. LC_ALL: the output is parsed below.
    env: { ...env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1", LC_ALL: "C" },
    maxBuffer: 1e8,
  };
  /** @type {Get} */
  const get = (...args) => run(apt, ["-q", "-o", "DPkg::Lock::Timeout=300", ...args], options);
  const what = ["install", "-y", "--no-install-recommends", ...packages];
  try {
    await alone("refmcp-apt", async () => {
      // A fresh machine has no package lists.
      let size = await sizeOf(get, what);
      if (size === undefined) {
        say("Updating the list of Debian packages, as root: apt-get update");
        await get("update");
        size = await sizeOf(get, what);
      }
      if (size === "") return;
      if (size === undefined) throw new Error(`apt has no package ${packages.join(" ")}`);
      say(
        `Installing system packages, as root: apt-get ${what.join(" ")} (${size}; --no-system-packages refuses this)`,
      );
      await get(...what);
    });
  } catch (error) {
    const { stderr, message } = /** @type {import("node:child_process").ExecFileException} */ (
      error
    );
    const [reason = "it failed"] = String(stderr || message)
      .trim()
      .split("\n")
      .slice(-1);
    if (env.CI === "true" || env.CI === "1")
      throw new Error(`apt-get ${what.join(" ")} failed: ${reason}`);
    return `apt failed: ${reason}`;
  }
  return undefined;
}

/** @typedef {(...args: string[]) => Promise<{ stdout: string }>} Get runs apt-get */

/**
 * How much apt would download and occupy, by its own simulation: "" for nothing; undefined if it cannot install.
 *
 * @type {(get: Get, what: string[]) => Promise<string | undefined>}
 */
async function sizeOf(get, [command = "", , ...rest]) {
  // It answers its own question with no, and then fails.
  const { stdout } = await get(command, "--assume-no", ...rest).catch((error) => error);
  if (/ 0 newly installed/.test(stdout)) return "";
  const [, download] = /^Need to get (.+) of archives/m.exec(stdout) ?? [];
  const [, disk] = /^After this operation, (.+) of additional disk space/m.exec(stdout) ?? [];
  return download === undefined
    ? undefined
    : `${download} to download${disk ? `, ${disk} on disk` : ""}`;
}

/**
 * Runs `work` while no other process runs work with this name. A lock whose owner has died is broken.
 *
 * @template Result
 * @param {string} name
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function alone(name, work) {
  const lock = join(tmpdir(), `${name}.lock`);
  for (;;) {
    try {
      await writeFile(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
      const owner = Number(await readFile(lock, "utf8").catch(() => ""));
      if (owner > 0 && !isRunning(owner)) await rm(lock, { force: true });
      else await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
