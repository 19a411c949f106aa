// Brings a browser for tests, benchmarks and the scene: one that is there, else Debian's headless shell by apt, else
// the one that npm ships. Several processes may ask at once.
import { execFile } from "node:child_process";
import { access, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { alone, aptInstall } from "../../../scripts/lib/apt.mjs";

const run = promisify(execFile);
const PACKAGE = "@sparticuz/chromium@147.0.2";
const PROGRAMS = [
  "/usr/lib/chromium/chromium-headless-shell",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
];

const isThere = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

async function systemBrowser() {
  for (const path of PROGRAMS) if (await isThere(path)) return { executablePath: path, env: {} };
  return undefined;
}

/**
 * A browser of this machine; brings one where there is none.
 *
 * @param {{ bring?: "apt" | "npm" | "any", say?: (line: string) => void }} [how] which way, for tests of the ways
 * @returns {Promise<{ executablePath: string, env: Record<string, string> }>} the program, and the environment that it needs
 */
export async function bringBrowser({ bring = "any", say = () => {} } = {}) {
  if (bring !== "npm") {
    const found = (await systemBrowser()) ?? (await byApt(say));
    if (found !== undefined) return found;
  }
  if (bring !== "apt" && process.platform === "linux") return byNpm(say);
  throw new Error(
    "These tests need a browser and found no way to bring one. Install it with: npx playwright install --with-deps chromium-headless-shell",
  );
}

async function byApt(say) {
  say("Looking for chromium-headless-shell by apt (64 MB) …");
  await aptInstall(["chromium-headless-shell"]);
  return systemBrowser();
}

async function byNpm(say) {
  const home = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "refmcp", "test-browser");
  const ready = join(home, "ready");
  const executablePath = join(ready, "chromium");
  const found = { executablePath, env: { LD_LIBRARY_PATH: join(ready, "lib") } };
  return alone("refmcp-test-browser", async () => {
    if (await isThere(executablePath)) return found;
    say(`Installing ${PACKAGE} from npm (66 MB) …`);
    await mkdir(home, { recursive: true });
    await writeFile(join(home, "package.json"), '{ "private": true }\n');
    await run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", PACKAGE], {
      cwd: home,
    });
    const shipped = join(home, "node_modules", "@sparticuz", "chromium", "bin");
    const fresh = join(home, `fresh-${process.pid}`);
    await mkdir(fresh, { recursive: true });
    const unpacked = async (name) => promisify(brotliDecompress)(await readFile(join(shipped, name)));
    await writeFile(join(fresh, "chromium"), await unpacked("chromium.br"), { mode: 0o755 });
    for (const name of ["al2023.tar", "swiftshader.tar"]) {
      await writeFile(join(fresh, name), await unpacked(`${name}.br`));
      await run("tar", ["-xf", name], { cwd: fresh });
      await rm(join(fresh, name));
    }
    await rm(ready, { recursive: true, force: true });
    await rename(fresh, ready);
    await rm(join(home, "node_modules"), { recursive: true, force: true });
    return found;
  });
}
