// Finds a browser for tests, benchmarks and the demo, as the server itself does; if none starts, installs one: as
// root on Debian by apt, else by Playwright's own installer into the user's cache. Several processes may ask at once.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { alone, aptInstall } from "../../../scripts/lib/apt.mjs";

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const fromServer = createRequire(here("../package.json"));
/** What `npx playwright install` downloads at least, and what stops it. */
const DOWNLOAD = "about 110 MB";
const MAX_DOWNLOAD_MS = 600_000;
/** Tests run in many processes; those that a process starts know at once what it found. */
const FOUND = "REFMCP_TEST_BROWSER";
const MISSING = "REFMCP_TEST_BROWSER_MISSING";

/** There is no browser, and none could be installed. */
export class NoBrowser extends Error {}

/**
 * A working browser on this machine; installs one if there is none.
 *
 * @param {{ say?: (line: string) => void }} [parts] `say` announces an installation, before it begins
 * @returns {Promise<{ executablePath: string }>}
 * @throws {NoBrowser} with one sentence that says how to get one. Inside vitest the test or suite is skipped instead.
 */
export async function ensureBrowser({ say = (line) => process.stderr.write(`${line}\n`) } = {}) {
  const known = process.env[FOUND];
  if (known !== undefined && existsSync(known)) return { executablePath: known };
  if (process.env[MISSING] !== undefined) throw missing(process.env[MISSING]);
  return alone("refmcp-test-browser", async () => {
    let executablePath = await findBrowser();
    const reasons = [];
    const apt = () => aptInstall(["chromium-headless-shell"], { say });
    for (const install of [apt, () => installByPlaywright(say)]) {
      if (executablePath !== undefined) break;
      const reason = await install();
      if (reason === undefined) executablePath = await findBrowser();
      if (executablePath === undefined)
        reasons.push(reason ?? "the installed one does not start, perhaps for lack of libraries");
    }
    if (executablePath !== undefined) {
      process.env[FOUND] = executablePath;
      return { executablePath };
    }
    const reason = `No browser starts on this machine, and none could be installed (${reasons.join("; ")}). Install Chrome, Edge or Chromium, or run: npx playwright install --with-deps chromium-headless-shell`;
    process.env[MISSING] = reason;
    throw missing(reason);
  });
}

/** @param {string} reason */
function missing(reason) {
  // Set by vitest.setup.ts, which runs before each file of tests: skips what needs the browser.
  Reflect.get(globalThis, Symbol.for("refmcp.skip"))?.(reason);
  return new NoBrowser(reason);
}

/** The variables by which Playwright and the server find browsers, where they are set. */
export function browserVariables() {
  const names =
    /^(?:PLAYWRIGHT_BROWSERS_PATH|PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH|XDG_CACHE_HOME|LOCALAPPDATA)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

/** The program of the first browser that the server itself would start. */
async function findBrowser() {
  const { launch } = await ownLauncher();
  const launched = await launch({
    browser: "chromium",
    executablePath: undefined,
    cdpEndpoint: undefined,
    wsEndpoint: undefined,
    sandbox: true,
    env: process.env,
  }).catch((error) => {
    if (error.code === "no_browser") return undefined;
    throw error;
  });
  if (launched === undefined) return undefined;
  const session = await launched.browser.newBrowserCDPSession();
  const { commandLine } = await session.send("SystemInfo.getInfo");
  await launched.browser.close();
  return commandLine.replace(/ --.*/s, "").replace(/^"(.*)"$/, "$1");
}

/**
 * The server's launcher, compiled from its source: benchmarks and the demo run without a TypeScript loader.
 *
 * @returns {Promise<typeof import("../src/browser/driver/launch.ts")>}
 */
async function ownLauncher() {
  const outfile = here("../node_modules/.cache/refmcp-launcher/launch.mjs");
  await build({
    entryPoints: [here("../src/browser/driver/launch.ts")],
    outfile,
    bundle: true,
    external: ["playwright"],
    platform: "node",
    format: "esm",
  });
  return import(pathToFileURL(outfile).href);
}

/**
 * Runs Playwright's installer in the version of the server; why it failed, or undefined.
 *
 * @type {(say: (line: string) => void) => Promise<string | undefined>}
 */
async function installByPlaywright(say) {
  const { version } = fromServer("playwright/package.json");
  const cli = join(fromServer.resolve("playwright/package.json"), "..", "cli.js");
  say(
    `Installing a headless Chromium into your Playwright cache (${DOWNLOAD}): npx playwright@${version} install chromium-headless-shell`,
  );
  const args = [cli, "install", "chromium-headless-shell"];
  // A connection that does not come about fails after 15 s instead of 30; it tries five times.
  const env = { PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: "15000", ...process.env };
  const options = { env, timeout: MAX_DOWNLOAD_MS, maxBuffer: 1e8 };
  return promisify(execFile)(process.execPath, args, options).then(
    () => undefined,
    ({ stdout, stderr, code, killed }) => {
      const why = /\b(?:getaddrinfo|connect|timed out|ENOSPC|EACCES)\b[^\n]*/.exec(stdout + stderr);
      const reason = killed ? "it took more than 10 minutes" : (why?.[0] ?? `exit code ${code}`);
      return `Playwright's installer failed: ${reason.trim()}`;
    },
  );
}
