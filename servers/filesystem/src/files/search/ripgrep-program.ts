import { execFile } from "node:child_process";
import { realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import type { PathGuard } from "@refmcp/core/boundary";

const run = promisify(execFile);

/** The oldest version whose options and answers are as we rely on them. */
const OLDEST = 13;

/**
 * The path of a ripgrep program: that of the optional package `@vscode/ripgrep`, else an `rg` on the PATH.
 *
 * A program inside an allowed directory is never started: whoever can write there, the agent too, would run code
 * through this server. (PATH holds `node_modules/.bin` of a project where npx or a script started us.)
 *
 * @returns undefined where there is none that can be used.
 */
export async function findRipgrep(
  guard: PathGuard,
  path = process.env.PATH ?? "",
): Promise<string | undefined> {
  const candidates = [await packaged(), ...onPath(path)];
  for (const candidate of candidates) {
    if (candidate !== undefined && (await isUsable(candidate, guard))) return candidate;
  }
  return undefined;
}

async function packaged(): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    return rgPath;
  } catch {
    // The package is optional.
    return undefined;
  }
}

function onPath(path: string): string[] {
  const name = process.platform === "win32" ? "rg.exe" : "rg";
  return path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name));
}

async function isUsable(candidate: string, guard: PathGuard): Promise<boolean> {
  try {
    const real = await realpath(candidate);
    if (guard.contains(real) || !(await stat(real)).isFile()) return false;
    const { stdout } = await run(candidate, ["--no-config", "--version"], {
      env: ripgrepEnvironment(),
      timeout: 5_000,
    });
    const major = /^ripgrep (\d+)\./.exec(stdout)?.[1];
    return major !== undefined && Number(major) >= OLDEST;
  } catch {
    return false;
  }
}

/** Nothing of ours, above all no RIPGREP_CONFIG_PATH; Windows programs do not start without SystemRoot. */
export function ripgrepEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? {} : { SystemRoot };
}
