import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

export interface Candidate {
  /** The program, or a channel that Playwright locates itself. */
  readonly program: { readonly executablePath: string } | { readonly channel: string };
  readonly place: string;
  /** Set by the user, so it is an error if it does not start. */
  readonly required: boolean;
}

export interface BrowserSearch {
  readonly executablePath: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** Playwright's `chromium`, which knows where it installs browsers. */
  readonly chromium: { executablePath(): string };
}

/** The places where a browser may be installed, in the order in which they are tried. */
export async function candidatesOf({
  executablePath,
  env,
  platform,
  chromium,
}: BrowserSearch): Promise<Candidate[]> {
  const named = executablePath ?? env.PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH;
  if (named !== undefined && named !== "") {
    const place =
      executablePath === undefined ? "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH" : "--executable-path";
    return [{ program: { executablePath: named }, place: `${place} ${named}`, required: true }];
  }
  const program = (path: string, place = path): Candidate => ({
    program: { executablePath: path },
    place,
    required: false,
  });
  return [
    ...(await installedPrograms(chromium)).map((path) => program(path)),
    ...(SYSTEM[platform] ?? []).map((path) => program(path)),
    ...["chrome", "msedge"].map((channel) => ({
      program: { channel },
      place: `the ${channel === "chrome" ? "Chrome" : "Edge"} of this machine`,
      required: false,
    })),
  ];
}

/** The system's browsers; the headless shell is first because it starts fastest. */
const SYSTEM: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: [
    // The program itself: Debian's /usr/bin/chromium-headless-shell is a script that keeps running in between.
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/snap/bin/chromium",
  ],
  darwin: ["/Applications/Chromium.app/Contents/MacOS/Chromium"],
};

const SHELL = /^(?:chrome-)?headless[-_]shell(?:\.exe)?$/;

/**
 * Programs where Playwright installs browsers, any revision: headless shells first, newest first. If there are none,
 * where its own would be.
 */
async function installedPrograms(chromium: BrowserSearch["chromium"]): Promise<string[]> {
  let own: string;
  try {
    own = chromium.executablePath();
  } catch {
    // Playwright has none for this platform.
    return [];
  }
  // FOLDER/chromium-REVISION/PLATFORM/PROGRAM
  const [, folder = "", program = ""] =
    /^(.+)[\\/]chromium-\d+[\\/][^\\/]+[\\/](.+)$/.exec(own) ?? [];
  const found: { path: string; rank: number }[] = [];
  for (const name of await entriesOf(folder)) {
    const [, shell, revision] = /^chromium(_headless_shell)?-(\d+)$/.exec(name) ?? [];
    if (revision === undefined) continue;
    for (const platform of await entriesOf(join(folder, name))) {
      const inner = join(folder, name, platform);
      const names =
        shell === undefined ? [program] : (await entriesOf(inner)).filter((one) => SHELL.test(one));
      const rank = Number(revision) + (shell === undefined ? 0 : 1e9);
      for (const path of names.map((one) => join(inner, one)))
        if (existsSync(path)) found.push({ path, rank });
    }
  }
  return found.length === 0 ? [own] : found.sort((a, b) => b.rank - a.rank).map(({ path }) => path);
}

function entriesOf(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

export const INSTALL = "npx playwright install --with-deps chromium-headless-shell";

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

/**
 * Playwright's options for a browser that must stay behind a proxy: its switches, its environment, and no signal
 * handlers, since the caller closes it.
 */
export function guardedLaunch(env: NodeJS.ProcessEnv) {
  return {
    // Playwright turns off the browser's own limit on floods of messages (history, navigation), so one page could block
    // all others.
    ignoreDefaultArgs: ["--disable-ipc-flooding-protection"],
    args: SWITCHES,
    env: harmlessOf(env),
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  };
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

/** The client's side of Playwright's connection to itself; it has no public name. */
interface Connection {
  dispatch(message: { readonly id?: string }): void;
  readonly _callbacks: ReadonlyMap<string, { reject(error: unknown): void }>;
}

const GONE = /was not bound in the connection|^Cannot find (?:parent )?object/;
const guarded = new WeakSet<object>();

/**
 * Makes a message that Playwright cannot read fail only the call it answers. If the answer to a navigation arrives
 * while its context is being closed, as when a run reaches its deadline, Playwright 1.65 refers to a response that it
 * has just disposed of. It then throws in its own message loop, which would end this process, and never settles the
 * call.
 *
 * @param owner any object of Playwright's.
 */
export function failUnreadableAnswers(owner: object): void {
  const connection: unknown = Reflect.get(owner, "_connection");
  if (!isConnection(connection) || guarded.has(connection)) return;
  guarded.add(connection);
  const dispatch = connection.dispatch.bind(connection);
  connection.dispatch = (message) => {
    const waiting = message.id === undefined ? undefined : connection._callbacks.get(message.id);
    try {
      dispatch(message);
    } catch (error) {
      if (!(error instanceof Error && GONE.test(error.message))) throw error;
      waiting?.reject(error);
    }
  };
}

function isConnection(value: unknown): value is Connection {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof Reflect.get(value, "dispatch") === "function" &&
    Reflect.get(value, "_callbacks") instanceof Map
  );
}
