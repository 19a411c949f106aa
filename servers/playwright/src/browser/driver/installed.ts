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

interface BrowserSearch {
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
