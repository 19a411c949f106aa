import { access } from "node:fs/promises";
import { tmpdir } from "node:os";
import { ToolError } from "@refmcp/boundary/answer";
import type { Browser, BrowserType } from "playwright";
import { failure } from "../errors.ts";
import { expectation, playwright } from "../library.ts";
import { diskProblem } from "../store/disk.ts";
import { guardedLaunch } from "./guarded-launch.ts";
import { type Candidate, candidatesOf, INSTALL } from "./installed.ts";
import { failUnreadableAnswers } from "./unreadable.ts";

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

/** Makes Firefox use only the proxy, also for loopback addresses, and disables WebRTC. */
const FIREFOX_PREFERENCES = {
  "network.proxy.allow_hijacking_localhost": true,
  "media.peerconnection.enabled": false,
};
const NAMES = { firefox: "Firefox", webkit: "WebKit" } as const;
const ABSENT = "not there";
const START_MS = 30_000;

export function browserType(name: LaunchOptions["browser"]): BrowserType {
  const type = playwright()[name];
  failUnreadableAnswers(type);
  return type;
}

/** Playwright's build of a browser other than Chromium, or the program that the user named. */
function buildOf(type: BrowserType, named: string | undefined): Candidate[] {
  const executablePath = named ?? type.executablePath();
  const place = named === undefined ? executablePath : `--executable-path ${named}`;
  return [{ program: { executablePath }, place, required: named !== undefined }];
}

/**
 * Starts the first browser that works, or connects to the configured one.
 *
 * @param candidates the locations to try, in order.
 * @throws ToolError `unavailable` that lists every location tried and the command that installs a browser.
 */
export async function launch(options: LaunchOptions, candidates = candidatesOf): Promise<Launched> {
  const { browser, executablePath } = options;
  const type = browserType(browser);
  if (options.cdpEndpoint !== undefined && browser !== "chromium")
    throw new ToolError("invalid", `--cdp-endpoint is for Chromium, and --browser is ${browser}.`, {
      hint: "Connect to other browsers with --ws-endpoint.",
      code: "no_browser",
    });
  if (options.cdpEndpoint !== undefined)
    return connect("--cdp-endpoint", options.cdpEndpoint, (endpoint) =>
      type.connectOverCDP(endpoint, { timeout: START_MS }),
    );
  if (options.wsEndpoint !== undefined)
    return connect("--ws-endpoint", options.wsEndpoint, (endpoint) =>
      type.connect(endpoint, { timeout: START_MS }),
    );
  const { env } = options;
  const tried: string[] = [];
  let isThere = false;
  // Chromium's sandbox does not work for root.
  const sandboxed = options.sandbox && process.getuid?.() !== 0;
  const found =
    browser === "chromium"
      ? await candidates({ ...options, env, platform: process.platform, chromium: type })
      : buildOf(type, executablePath);
  for (const candidate of found) {
    const outcome = await start(type, candidate, sandboxed, options);
    if (typeof outcome !== "string")
      return { browser: outcome, from: candidate.place, sandboxed, local: true };
    if (candidate.required) {
      throw failure("no_browser", `The browser at ${candidate.place} does not start: ${outcome}.`, {
        hint: "Correct the path, or omit it to use a browser found on this machine.",
      });
    }
    isThere ||= outcome !== ABSENT;
    tried.push(`${candidate.place}: ${outcome}`);
  }
  const list = `Tried:\n${tried.join("\n")}`;
  if (isThere)
    throw failure("no_browser", `No browser on this machine starts. ${list}`, {
      hint: "Correct what is named there, or specify another browser with --executable-path, --cdp-endpoint or --ws-endpoint.",
    });
  const [what, install] =
    browser === "chromium"
      ? ["no browser", INSTALL]
      : [`no ${NAMES[browser]} for Playwright`, `npx playwright install --with-deps ${browser}`];
  throw failure("no_browser", `There is ${what} on this machine. ${list}`, {
    hint: `Install one with: ${install}\n(or specify one with --executable-path, --cdp-endpoint or --ws-endpoint)`,
  });
}

/**
 * The running browser, or why it does not run.
 *
 * @throws ToolError `unavailable` if no other would run either.
 */
async function start(
  type: BrowserType,
  { program }: Candidate,
  sandboxed: boolean,
  { env }: LaunchOptions,
): Promise<Browser | string> {
  if ("executablePath" in program) {
    const there = await access(program.executablePath).then(
      () => true,
      () => false,
    );
    if (!there) return ABSENT;
  }
  const { ignoreDefaultArgs, args, ...guarded } = guardedLaunch(env);
  try {
    const starting = type.launch({
      ...guarded,
      ...(type.name() === "chromium"
        ? { ignoreDefaultArgs, args: [...args], chromiumSandbox: sandboxed }
        : { firefoxUserPrefs: FIREFOX_PREFERENCES }),
      ...program,
      headless: true,
      timeout: START_MS,
    });
    await spawned(starting);
    expectation();
    return await starting;
  } catch (error) {
    throwIfGeneral(error);
    return reasonOf(error, sandboxed);
  }
}

/** @throws ToolError `unavailable` for a cause that has nothing to do with the browser. */
function throwIfGeneral(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  if (/\bmkdtemp\b/.test(text))
    throw failure(
      "no_browser",
      `No browser can start: the directory for temporary files, ${tmpdir()}, cannot be used (${diskProblem(error)}).`,
      { hint: "Set TMPDIR to an existing directory with free space.", cause: error },
    );
  if (/\bEMFILE\b|Too many open files/.test(text))
    throw failure("no_browser", "No browser can start: it would have too many open files.", {
      hint: "Raise the limit for open files with which the server is started (ulimit -n).",
      cause: error,
    });
}

/** Waits until the browser has started or failed to start; code is loaded after that. */
export async function spawned(starting: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  starting.then(end, end);
  while (!isOver && !process.getActiveResourcesInfo().includes("ProcessWrap"))
    await new Promise(setImmediate);
}

async function connect(
  option: string,
  endpoint: string,
  open: (endpoint: string) => Promise<Browser>,
): Promise<Launched> {
  try {
    const browser = await open(endpoint);
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

function reasonOf(error: unknown, sandboxed: boolean): string {
  const text = error instanceof Error ? error.message : String(error);
  // The command line is part of the text: without a sandbox it has --no-sandbox.
  if (sandboxed && /No usable sandbox|sandbox.*(?:not|fail)/i.test(text))
    return "its sandbox does not work here (--no-sandbox starts it without)";
  if (/is not found at/.test(text)) return ABSENT;
  const library = /error while loading shared libraries: ([^:\n]+)/.exec(text)?.[1];
  if (library !== undefined) return `the library ${library} is missing`;
  if (text.includes("has been closed")) return "it ended while it was starting";
  const [first = "it does not start"] = text.split("\n");
  return first.replace(/^browserType\.launch: /, "").slice(0, 200);
}
