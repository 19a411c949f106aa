import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { Browser, BrowserType } from "playwright";
import { failure } from "../errors.ts";
import { playwright } from "../library.ts";
import { diskProblem } from "../store/disk.ts";

export interface LaunchOptions {
  readonly browser: "chromium" | "firefox" | "webkit";
  readonly executablePath: string | undefined;
  readonly cdpEndpoint: string | undefined;
  readonly wsEndpoint: string | undefined;
  readonly sandbox: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** A running browser and its origin. */
export interface Launched {
  readonly browser: Browser;
  readonly from: string;
  readonly sandboxed: boolean;
  /** Whether it is on this machine and can use our proxy. */
  readonly local: boolean;
}

const START_MS = 30_000;
const MAX_PAGE_KB = 1_500_000;

/**
 * Switches for Chromium in addition to Playwright's, so that nothing bypasses the proxy: QUIC, WebRTC and the browser's
 * own name resolution would. Chromium's documentation on proxies recommends `--host-resolver-rules`.
 */
const SWITCHES = [
  "--disable-quic",
  "--dns-prefetch-disable",
  "--no-pings",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  // A pattern that backtracks excessively is matched in linear time instead
  // (https://v8.dev/blog/non-backtracking-regexp).
  "--js-flags=--enable-experimental-regexp-engine-on-excessive-backtracks",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

/** Chromium of the system; the headless shell is first because it starts fastest. */
const SYSTEM = [
  // The program itself: Debian's /usr/bin/chromium-headless-shell is a script that keeps running in between.
  "/usr/lib/chromium/chromium-headless-shell",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/snap/bin/chromium",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

interface Candidate {
  readonly place: string;
  readonly program: { readonly executablePath?: string; readonly channel?: string };
}

/** Where browsers may be, in the order in which they are tried: Playwright's own, the system's, Chrome and Edge. */
function candidatesOf(browser: LaunchOptions["browser"]): Candidate[] {
  const own = { place: `Playwright's ${browser}`, program: {} };
  if (browser !== "chromium") return [own];
  return [
    own,
    ...SYSTEM.filter((path) => existsSync(path)).map((executablePath) => ({
      place: executablePath,
      program: { executablePath },
    })),
    { place: "Chrome", program: { channel: "chrome" } },
    { place: "Edge", program: { channel: "msedge" } },
  ];
}

/**
 * Starts the first browser that works, or connects to the configured one.
 *
 * @throws ToolError `unavailable` with the reason of each that was tried, and the command that installs one.
 */
export async function launch(options: LaunchOptions): Promise<Launched> {
  const { browser, cdpEndpoint, wsEndpoint, env } = options;
  const type: BrowserType = playwright()[browser];
  const timeout = START_MS;
  if (cdpEndpoint !== undefined)
    return connect("--cdp-endpoint", cdpEndpoint, () =>
      type.connectOverCDP(cdpEndpoint, { timeout }),
    );
  if (wsEndpoint !== undefined)
    return connect("--ws-endpoint", wsEndpoint, () => type.connect(wsEndpoint, { timeout }));
  const configuredPath = options.executablePath ?? env.PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH;
  // Chromium's sandbox does not work for root.
  const sandboxed = options.sandbox && process.getuid?.() !== 0;
  const tried: string[] = [];
  for (const { place, program } of configuredPath
    ? [{ place: configuredPath, program: { executablePath: configuredPath } }]
    : candidatesOf(browser)) {
    const started = await start(type, program, sandboxed, env).catch((error: unknown) => {
      tried.push(`${place}: ${reasonOf(error, sandboxed)}`);
    });
    if (started === undefined) continue;
    void guardMemory(started).catch(() => undefined);
    return { browser: started, from: place, sandboxed, local: true };
  }
  const install = `npx playwright install --with-deps ${browser === "chromium" ? "chromium-headless-shell" : browser}`;
  throw failure("no_browser", `No browser starts on this machine. Tried:\n${tried.join("\n")}`, {
    hint: `Correct what is named there, or install one with: ${install}\n(or specify one with --executable-path, --cdp-endpoint or --ws-endpoint)`,
  });
}

function start(
  type: BrowserType,
  program: Candidate["program"],
  sandboxed: boolean,
  env: NodeJS.ProcessEnv,
): Promise<Browser> {
  return type.launch({
    ...program,
    ...(type.name() === "chromium" ? { args: SWITCHES, chromiumSandbox: sandboxed } : {}),
    // Playwright turns off the browser's own limit on floods of messages (history, navigation), so one page could block
    // all others.
    ignoreDefaultArgs: ["--disable-ipc-flooding-protection"],
    env: harmlessOf(env),
    ...{ headless: true, timeout: START_MS },
    // Our caller closes it.
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  });
}

/** Kills a page's process that uses too much memory, on Linux: its run reports a crash. Chromium limits only scripts' objects. */
async function guardMemory(browser: Browser): Promise<void> {
  const cdp = await browser.newBrowserCDPSession();
  const look = async () => {
    const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
    for (const { id } of processInfo.filter(({ type }) => type === "renderer")) {
      const usedKb = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${id}/status`, "latin1"))?.[1];
      if (Number(usedKb) > MAX_PAGE_KB) process.kill(id, "SIGKILL");
    }
  };
  const timer = setInterval(() => void look().catch(() => undefined), 250).unref();
  browser.once("disconnected", () => clearInterval(timer));
}

/** The browser's environment, without our variables and without anything that looks like a secret. */
function harmlessOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        !/^(?:REFMCP_|PW_SECRET_)|KEY|TOKEN|SECRET|PASSWORD/i.test(entry[0]),
    ),
  );
}

async function connect(
  option: string,
  endpoint: string,
  open: () => Promise<Browser>,
): Promise<Launched> {
  try {
    const browser = await open();
    const local = /^\[?(?:localhost|127\.|::1)/.test(new URL(endpoint).hostname);
    return { browser, from: option, sandboxed: true, local };
  } catch (error) {
    // The endpoint may contain a token, so it is not shown.
    throw failure("no_browser", `No browser responds at the address of ${option}.`, {
      hint: "Check that the browser or grid is running and that the address and its protocol are correct.",
      cause: error,
    });
  }
}

/** @throws ToolError `unavailable` for a cause that has nothing to do with the browser. */
function reasonOf(error: unknown, sandboxed: boolean): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/\bmkdtemp\b/.test(text))
    throw failure(
      "no_browser",
      `No browser can start: the directory for temporary files, ${tmpdir()}, cannot be used (${diskProblem(error)}).`,
      { hint: "Set TMPDIR to an existing directory with free space.", cause: error },
    );
  // The command line is part of the text: without a sandbox it has --no-sandbox.
  if (sandboxed && /No usable sandbox|sandbox.*(?:not|fail)/i.test(text))
    return "its sandbox does not work here (--no-sandbox starts it without)";
  if (/is not found at|doesn't exist at|executable doesn't exist/i.test(text)) return "not there";
  const library = /error while loading shared libraries: ([^:\n]+)/.exec(text)?.[1];
  if (library !== undefined) return `the library ${library} is missing`;
  const [first = "it does not start"] = text.split("\n");
  return first.replace(/^browserType\.launch: /, "").slice(0, 200);
}
