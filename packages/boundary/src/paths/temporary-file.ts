import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, type Stats } from "node:fs";
import { type FileHandle, lstat, readdir, unlink } from "node:fs/promises";
import { openUnlinked } from "./open.ts";
import { changedConcurrently } from "./refusals.ts";
import { type GuardedDirectory, isSame } from "./types.ts";

/** A new file with a random name, written completely before it is renamed. */
export interface TemporaryFile {
  readonly handle: FileHandle;
  /** A path for fs calls. */
  readonly entry: string;
  readonly identity: BigIntStats;
  /** Closes the file, and removes it if it still has its random name. */
  discard(): Promise<void>;
}

/**
 * A unique name that nobody can guess, for our incomplete copy. Never for the user's files: old files with such a name
 * are removed.
 */
export function temporaryName(): string {
  return `.refmcp-${randomBytes(9).toString("base64url")}.tmp`;
}

const TEMPORARY_NAME = /^\.refmcp-[\w-]{12}\.tmp$/;
/**
 * After this time without a write, in milliseconds, a temporary file counts as left behind by a killed process.
 */
const LEFTOVER_MS = 3_600_000;
/** Directories that this process has already cleaned up. */
const swept = new Set<string>();

/** Removes temporary files that killed processes left in `directory`; once per directory and process. */
async function sweep(directory: GuardedDirectory): Promise<void> {
  if (swept.has(directory.realPath)) return;
  if (swept.size >= 1_000) swept.clear();
  swept.add(directory.realPath);
  for (const name of await readdir(directory.entry("")).catch(() => [])) {
    if (!TEMPORARY_NAME.test(name)) continue;
    const stat = await lstat(directory.entry(name)).catch(() => undefined);
    if (stat?.isFile() !== true || Date.now() - stat.mtimeMs < LEFTOVER_MS) continue;
    await unlink(directory.entry(name)).catch(() => {});
  }
}

/**
 * Creates a new, empty file in `directory` (O_EXCL).
 *
 * @param mode permissions, before the umask
 * @param path the path to name in errors
 */
export async function createTemporaryFile(
  directory: GuardedDirectory,
  mode: number,
  path: string,
): Promise<TemporaryFile> {
  await directory.verify();
  await sweep(directory);
  const entry = directory.entry(temporaryName());
  const handle = await openUnlinked(entry, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    const identity = await handle.stat({ bigint: true });
    await directory.verify();
    if (!isSame(await lstat(entry, { bigint: true }), identity)) throw changedConcurrently(path);
    return { handle, entry, identity, discard: () => discard(handle, entry) };
  } catch (error) {
    await discard(handle, entry);
    throw error;
  }
}

async function discard(handle: FileHandle, entry: string): Promise<void> {
  await handle.close().catch(() => {});
  // After it is renamed or removed, there is nothing left to remove.
  await unlink(entry).catch(() => {});
}

/**
 * Gives the new file the old one's mode, owner and birth time, as far as the system allows. The set-user-ID and
 * set-group-ID bits are cleared, as with every write(2) by a user other than root.
 */
export async function copyAttributes({ handle, identity }: TemporaryFile, old: Stats): Promise<void> {
  if (BigInt(old.uid) !== identity.uid || BigInt(old.gid) !== identity.gid) {
    await handle.chown(old.uid, old.gid).catch(() => {});
  }
  await handle.chmod(old.mode & 0o777);
  // On these systems, a modification time before the birth time also sets the birth time: utimes(2).
  if (process.platform === "darwin" || process.platform === "freebsd") {
    const now = new Date();
    await handle.utimes(now, old.birthtime);
    await handle.utimes(now, now);
  }
}
