import { execFile } from "node:child_process";
import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { npmPackages } from "../../scripts/lib/npm-programs.mjs";

/** The vendors' own programs, each in an exact version. All of them run without an account for what the tests ask. */
const VENDORS = {
  claude: { name: "@anthropic-ai/claude-code", version: "2.1.332", bin: "claude" },
  gemini: { name: "@google/gemini-cli", version: "0.61.0", bin: "gemini" },
} as const;
export type VendorName = keyof typeof VENDORS;

export interface Vendor {
  readonly title: string;
  /** The program's file. */
  readonly file: string;
  /** A new home directory. */
  readonly home: string;
  /** A project in which the program runs. */
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs the program: its exit code, and what it prints on stdout and stderr. */
  run(...args: string[]): Promise<{ code: number; output: string }>;
}

/**
 * Installs a vendor's program and gives it a separate home, from which it reaches only this machine.
 *
 * @returns why it cannot be installed, if npm does not have it for this platform or is not reachable
 */
export async function vendorOf(
  name: VendorName,
  env: Record<string, string> = {},
): Promise<Vendor | string> {
  const { name: packageName, version, bin } = VENDORS[name];
  let file: string;
  try {
    file = (await npmPackages({ [packageName]: version }))(join(".bin", bin));
  } catch (error) {
    return `needs ${packageName}@${version} from npm: ${String(error).split("\n", 1)[0]}`;
  }
  const home = await mkdtemp(join(tmpdir(), `refmcp-${name}-`));
  const project = join(home, "project");
  await mkdir(project);
  const quiet = {
    PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
    HOME: home,
    USERPROFILE: home,
    // Nothing listens there.
    HTTPS_PROXY: "http://127.0.0.1:9",
    HTTP_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
    DO_NOT_TRACK: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    ...env,
  };
  return {
    title: `${bin} ${version}`,
    file,
    home,
    project,
    env: quiet,
    run: (...args) =>
      new Promise((resolve) => {
        const options = { cwd: project, env: quiet, maxBuffer: 2 ** 26, timeout: 240_000 };
        const child = execFile(file, args, options, (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
          resolve({ code, output: `${stdout}\n${stderr}` });
        });
        child.stdin?.end();
      }),
  };
}
