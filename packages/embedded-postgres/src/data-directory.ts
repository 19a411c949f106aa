import { execFile } from "node:child_process";
import { chown, mkdtemp, readdir, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureDirectory, errorCode } from "@refmcp/boundary";
import { errorsOf, oneLine, type ToolError } from "@refmcp/boundary/answer";

export const isWindows = process.platform === "win32";
const run = promisify(execFile);

/** The error codes of `--embedded`. */
export const embeddedFailure = errorsOf({
  embedded: ["unavailable"],
  in_use: [
    "unavailable",
    "One server at a time can use a directory. Close the other one (perhaps another client's), or start this server with another --embedded-dir.",
  ],
});

/** The user that PostgreSQL runs as, if not this process's user. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Creates a folder that only `user` can enter, with a path short enough for a socket. */
export async function privateFolder(user: User | undefined): Promise<string> {
  // Socket paths have at most 103 bytes on macOS, where the default temporary directory uses about 50.
  const isFine =
    isWindows || (Buffer.byteLength(tmpdir()) < 66 && (await canEnter(tmpdir(), user)));
  const folder = await mkdtemp(join(isFine ? tmpdir() : "/tmp", "refmcp-postgres-"));
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  return folder;
}

/** Where the data is or will be; refuses directories that this server did not create. @param major PostgreSQL's version */
export async function dataDirectory(directory: string | undefined, fresh: string, major: string) {
  if (directory === undefined) return { path: fresh, isNew: true };
  const path = join(directory, "data");
  const version = await versionIn(path);
  if (version === undefined) {
    const others = (await readdir(directory)).filter((name) => !name.startsWith(".new-"));
    if (others.length === 0) return { path, isNew: true };
    throw unusable(
      `${show(directory)} is not empty and does not contain an embedded database`,
      "Pass --embedded-dir an empty or new directory. To move the data of another PostgreSQL, dump it with pg_dump.",
    );
  }
  if (version !== major)
    throw unusable(
      `${show(directory)} was written by PostgreSQL ${version}, and the installed binaries are PostgreSQL ${major}, which cannot read it`,
      `Install the binaries of PostgreSQL ${version}, dump the data with them (pg_dump) and load it into a new directory.`,
    );
  return { path, isNew: false };
}

async function versionIn(directory: string): Promise<string | undefined> {
  try {
    return oneLine((await readFile(join(directory, "PG_VERSION"), "utf8")).slice(0, 20).trim());
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * PostgreSQL refuses to run as root, so it runs as the directory's owner, or as `postgres` or `nobody`, who then gets the
 * directory.
 */
export async function userFor(directory: string | undefined): Promise<User | undefined> {
  const own = process.getuid?.();
  if (directory !== undefined) ensureDirectory(directory, 0o700);
  const owner = directory === undefined ? undefined : await stat(directory);
  if (own === undefined) return undefined;
  if (own !== 0) {
    if (owner === undefined || owner.uid === own) return undefined;
    throw unusable(
      `${show(directory)} belongs to another user (id ${owner.uid}), and this server runs as user ${own}`,
      "Start the server as that user, or with another --embedded-dir.",
    );
  }
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const user = await unprivilegedUser();
  if (directory !== undefined) {
    await chown(directory, user.uid, user.gid);
    if (!(await canEnter(directory, user))) {
      await chown(directory, 0, 0);
      throw unusable(
        `PostgreSQL does not run as root, and user ${user.uid}, which it runs as, cannot enter ${show(directory)}: a folder above it is closed to others`,
        "Pass --embedded-dir a directory that every user can reach, such as /var/lib/refmcp-postgres, or run the server as an ordinary user.",
      );
    }
  }
  return user;
}

async function canEnter(directory: string, user: User | undefined): Promise<boolean> {
  if (user === undefined) return true;
  return run("/bin/sh", ["-c", 'cd -- "$0"', directory], { cwd: "/", ...user }).then(
    () => true,
    () => false,
  );
}

async function unprivilegedUser(): Promise<User> {
  for (const name of ["postgres", "_postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all(
        ["-u", "-g"].map(async (flag) =>
          Number((await run("id", [flag, name], { env: { PATH: "/usr/bin:/bin" } })).stdout),
        ),
      );
      if (uid !== undefined && gid !== undefined && uid > 0) return { uid, gid };
    } catch {
      // This user does not exist.
    }
  }
  throw unusable(
    "PostgreSQL does not run as root, and this system has neither a user postgres nor nobody",
    "Run the server as an ordinary user.",
  );
}

export function show(directory: string | undefined): string {
  return oneLine(directory ?? "");
}

function unusable(what: string, hint: string): ToolError {
  return embeddedFailure("embedded", `${what}.`, { hint });
}
