import { randomBytes } from "node:crypto";
import { type BigIntStats, constants, type Stats } from "node:fs";
import { type FileHandle, lstat, unlink } from "node:fs/promises";
import { isSame } from "./identity.ts";
import { openUnlinked } from "./opener.ts";
import { changedMeanwhile } from "./refusals.ts";
import type { GuardedDirectory } from "./types.ts";

/** A new file under a random name, written in full before it gets its own name. */
export interface TemporaryFile {
  readonly handle: FileHandle;
  /** A path for fs calls. */
  readonly entry: string;
  readonly identity: BigIntStats;
  /** Closes the file, and removes it under its random name where it still has it. */
  discard(): Promise<void>;
}

/** A name that nobody else has or can guess. */
export function temporaryName(): string {
  return `.refmcp-${randomBytes(9).toString("base64url")}.tmp`;
}

/**
 * Makes an empty file in `directory` that nobody else can have had (O_EXCL).
 *
 * @param mode permissions, of which the umask takes its part
 * @param path the path to name in errors
 */
export async function createTemporaryFile(
  directory: GuardedDirectory,
  mode: number,
  path: string,
): Promise<TemporaryFile> {
  await directory.verify();
  const entry = directory.entry(temporaryName());
  const handle = await openUnlinked(entry, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    const identity = await handle.stat({ bigint: true });
    await directory.verify();
    if (!isSame(await lstat(entry, { bigint: true }), identity)) throw changedMeanwhile(path);
    return { handle, entry, identity, discard: () => discard(handle, entry) };
  } catch (error) {
    await discard(handle, entry);
    throw error;
  }
}

async function discard(handle: FileHandle, entry: string): Promise<void> {
  await handle.close().catch(() => {});
  // Once it has its name, or somebody removed it, there is nothing left to remove.
  await unlink(entry).catch(() => {});
}

/**
 * Gives the new file the old one's mode and owner, as far as the system lets us. The set-user-ID and set-group-ID bits
 * go, as they do with every write(2) by somebody else than root.
 */
export async function takeOver({ handle, identity }: TemporaryFile, old: Stats): Promise<void> {
  if (BigInt(old.uid) !== identity.uid || BigInt(old.gid) !== identity.gid) {
    await handle.chown(old.uid, old.gid).catch(() => {});
  }
  await handle.chmod(old.mode & 0o777);
}
