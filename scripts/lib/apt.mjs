// Installs programs that tests and scenes need, where this is Debian or one of its children.
import { execFile } from "node:child_process";
import { access, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Installs packages by apt, one process at a time; the caller looks whether they are there now.
 *
 * @param {readonly string[]} packages
 */
export async function aptInstall(packages) {
  const before = await aptCommand();
  if (before === undefined) return;
  await alone("refmcp-apt", async () => {
    const apt = (...args) => {
      const [program, ...rest] = [...before, "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", ...args];
      // RUNLEVEL: a package that brings a service does not start it.
      const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
      return run(program, rest, { env, maxBuffer: 1e8 });
    };
    const install = () => apt("install", "-y", "--no-install-recommends", ...packages);
    // A fresh machine has no list of packages, others have one that is good enough.
    await install().catch(() =>
      apt("update")
        .then(install)
        .catch(() => undefined),
    );
  });
}

/** What stands before apt-get, or undefined where apt or the right to use it is missing. */
async function aptCommand() {
  if (process.platform !== "linux" || !(await isThere("/usr/bin/apt-get"))) return undefined;
  if (process.getuid?.() === 0) return [];
  return run("sudo", ["-n", "true"]).then(
    () => ["sudo", "-n"],
    () => undefined,
  );
}

/** @param {string} path */
const isThere = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * Runs `work` while no other process runs work of this name; a lock that its owner left behind is broken.
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
      if (error.code !== "EEXIST") throw error;
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
    return error.code === "EPERM";
  }
}
