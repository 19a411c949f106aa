import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../servers.ts";

const execute = promisify(execFile);

/** What `pnpm new` does not need: the servers, and with them the package that has all of them. */
const LEFT_OUT =
  /^(servers|packages\/refmcp\/|docs\/(?!hosts\.md)|test\/[^/]+\/|\.changeset|\.github)/;
const GATEWAY = "packages/refmcp/package.json";
/** Files that the checks of `pnpm new` run and the page generator reads. What the left out ones check needs everything. */
const KEPT =
  /^(?:test\/(?:structure\/(?!imports|tasks)|bench\/|hosts\/openings\.json$)|packages\/refmcp\/src\/hosts\/)/;

/** A copy of this workspace in a separate repository, where nothing interferes. */
export interface Clone {
  readonly root: string;
  /** Runs a script of the clone; returns its stdout and stderr. */
  node(script: string, ...args: string[]): Promise<{ stdout: string; stderr: string }>;
  /** Runs a program in a folder of the clone, as CI does. */
  run(
    folder: string,
    program: string,
    ...args: string[]
  ): Promise<{ stdout: string; stderr: string }>;
  /** Changed files as git reports them: `?? servers/weather/`. */
  status(): Promise<string[]>;
  dispose(): Promise<void>;
}

/**
 * Copies the files that git tracks or would track, and commits them.
 *
 * @param options.whole all of them; else what `pnpm new` needs
 */
export async function cloneWorkspace({ whole = false } = {}): Promise<Clone> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "refmcp-clone-")));
  const run: Clone["run"] = (folder, program, ...args) =>
    execute(program, args, {
      cwd: join(root, folder),
      env: { ...process.env, CI: "1" },
      maxBuffer: 64 * 1_048_576,
    });
  const { stdout } = await execute(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    {
      cwd: ROOT,
      maxBuffer: 64 * 1_048_576,
    },
  );
  for (const file of new Set(stdout.split("\0").filter((name) => name !== ""))) {
    if (!whole && LEFT_OUT.test(file) && !KEPT.test(file)) continue;
    // A tracked file may have been deleted.
    await cp(join(ROOT, file), join(root, file), { recursive: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      },
    );
  }
  // Of the package of all servers, only the hosts remain, for the pages: it needs servers that are left out.
  if (!whole) {
    const { name, version, description, devDependencies } = JSON.parse(
      await readFile(join(ROOT, GATEWAY), "utf8"),
    );
    await mkdir(dirname(join(root, GATEWAY)), { recursive: true });
    await writeFile(
      join(root, GATEWAY),
      JSON.stringify({ name, version, description, devDependencies }),
    );
    const lockfile = join(root, "pnpm-lock.yaml");
    const locked = await readFile(lockfile, "utf8");
    const servers = /^( {2}packages\/refmcp:\n) {4}dependencies:\n(?: {6}.*\n)+/m;
    await writeFile(lockfile, locked.replace(servers, "$1"));
  }
  // Leftovers of another branch have no effect.
  await mkdir(join(root, "servers", "leftover", "dist"), { recursive: true });
  const git = (...args: string[]) =>
    run(".", "git", "-c", "user.name=test", "-c", "user.email=test@localhost", ...args);
  await git("init", "--quiet");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "clone");
  return {
    root,
    run,
    node: (script, ...args) => run(".", process.execPath, join(root, script), ...args),
    async status() {
      const { stdout: changed } = await git("status", "--porcelain");
      return changed.split("\n").filter((line) => line !== "");
    },
    dispose: () => rm(root, { recursive: true, force: true }),
  };
}
