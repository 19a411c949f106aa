import { accessSync, constants, fchmodSync, fstatSync, type Stats, writeFileSync } from "node:fs";
import { access, type FileHandle, lstat, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { existingInside, identityIn, openEntry, statIn } from "./entries.ts";
import { giveFreeName, replaceUnchanged, temporaryName } from "./move.ts";
import { keyOf } from "./names.ts";
import { openUnlinked } from "./open-portable.ts";
import { errorCode, orMissing, pathError, specialFileError } from "./path-errors.ts";
import {
  type GuardContext,
  type GuardedDirectory,
  type GuardedPlace,
  isSame,
  type WriteOptions,
} from "./types.ts";
import { whileHeld } from "./while-held.ts";

/** See `PathGuard.updateFile`. */
export async function updateFileAt<Result>(
  path: string,
  work: (handle: FileHandle, stat: Stats) => Promise<Result>,
  context: GuardContext,
): Promise<Result> {
  return serialized(path, {}, context, async (place) => {
    await requirePermission(place);
    const { stat, handle: readHandle } = await context.opener.openFile(place.entry, path);
    let handle: FileHandle | undefined;
    try {
      handle = await openUnlinked(place.entry, constants.O_RDWR | constants.O_APPEND);
      const identity = await handle.stat({ bigint: true });
      if (!isSame(identity, await readHandle.stat({ bigint: true })))
        throw pathError("changed_meanwhile", path);
      await place.parent.verify();
      // Another name may be outside the allowed directories.
      if (stat.nlink > 1) throw pathError("several_links", path, { detail: `${stat.nlink}` });
      return await work(handle, stat);
    } finally {
      await handle?.close();
      await readHandle.close();
    }
  });
}

/** Runs `work` with the place to write to, after all earlier writers of the same file. */
async function serialized<Result>(
  path: string,
  options: WriteOptions,
  context: GuardContext,
  work: (place: GuardedPlace) => Promise<Result>,
): Promise<Result> {
  const place = await openTarget(path, options, context);
  return context.writers
    .run(keyOf(join(place.parent.realPath, place.name)), () => work(place))
    .finally(() => place.parent.close());
}

/** The location to write to: that of the path, or the target of a symlink there. */
async function openTarget(
  path: string,
  options: WriteOptions,
  context: GuardContext,
): Promise<GuardedPlace> {
  const place = await openEntry(path, context, { write: true, through: true });
  if (place.stat?.isSymbolicLink() !== true) return place;
  await place.parent.close();
  const existing = await existingInside(path, context);
  if (options.mode === "create") throw pathError("eexist", path);
  const targetPath = join(existing.real, ...existing.missing);
  const target = await openEntry(targetPath, context, { write: true });
  if (target.stat?.isSymbolicLink() !== true) return target;
  await target.parent.close();
  throw pathError("changed_meanwhile", path);
}

/** Up to this size, a local file is written without the thread pool, which would take longer. */
const SYNC_BYTES = 64 * 1024;

/** See `PathGuard.writeFile`. Extended attributes and access control lists are not preserved. */
export async function writeFileAt(
  path: string,
  content: Uint8Array,
  options: WriteOptions,
  context: GuardContext,
): Promise<{ created: boolean; path: string }> {
  const { mode, check } = options;
  return serialized(path, options, context, async (place) => {
    const { parent, entry, path } = place;
    const present = await statIn(parent, entry);
    if (present !== undefined) {
      if (present.isDirectory()) throw pathError("is_directory", path);
      if (present.isSymbolicLink()) throw pathError("changed_meanwhile", path);
      if (!present.isFile()) throw specialFileError(path, present);
      if (mode === "create") throw pathError("eexist", path);
      await requirePermission(place);
    }
    const temporary = await createTemporaryFile(parent, present ? 0o600 : 0o666, path);
    try {
      if (parent.isLocal && content.length <= SYNC_BYTES)
        writeFileSync(temporary.handle.fd, content);
      else await temporary.handle.writeFile(content);
      await temporary.handle.sync();
      const checkedStat = check && (await runCheck(place, check, context));
      const old = checkedStat ?? present;
      if (old !== undefined) await copyAttributes(temporary, old);
      // Windows does not rename an open file.
      await temporary.handle.close();
      await parent.verify();
      if (checkedStat !== undefined)
        await whileHeld(path, () => replaceUnchanged(temporary.entry, place, checkedStat));
      else if (mode === "create" || check !== undefined) await giveFreeName(temporary, entry, path);
      else await whileHeld(path, () => rename(temporary.entry, entry));
      await parent.verify();
      return { created: old === undefined, path };
    } catch (error) {
      await temporary.discard();
      throw error;
    }
  });
}

/** @returns what was checked */
async function runCheck(
  { entry, path }: GuardedPlace,
  check: NonNullable<WriteOptions["check"]>,
  { opener }: GuardContext,
): Promise<Stats | undefined> {
  const currentFile = await opener.openFile(entry, path).catch(orMissing);
  await check(currentFile).finally(() => currentFile?.handle.close());
  return currentFile?.stat;
}

/**
 * Replacing a file needs no permission on the file itself, but a user who removed that permission wants it unchanged.
 */
async function requirePermission({ parent, entry, path }: GuardedPlace): Promise<void> {
  try {
    await (parent.isLocal ? accessSync : access)(entry, constants.W_OK);
  } catch (error) {
    const isDenied = ["EACCES", "EPERM"].includes(errorCode(error) ?? "");
    throw isDenied ? pathError("not_writable", path) : error;
  }
}

const TEMPORARY_NAME = /^\.refmcp-[\w-]{12}\.tmp$/;
/**
 * After this time without a write, in milliseconds, a temporary file counts as left behind by a killed process.
 */
const LEFTOVER_MS = 3_600_000;
const sweptDirectories = new Set<string>();

/** Removes temporary files that killed processes left in `directory`; once per directory and process. */
async function sweep(directory: GuardedDirectory): Promise<void> {
  if (sweptDirectories.has(directory.realPath)) return;
  if (sweptDirectories.size >= 1_000) sweptDirectories.clear();
  sweptDirectories.add(directory.realPath);
  for (const name of await readdir(directory.entry("")).catch(() => [])) {
    if (!TEMPORARY_NAME.test(name)) continue;
    const stat = await lstat(directory.entry(name)).catch(() => undefined);
    if (stat?.isFile() !== true || Date.now() - stat.mtimeMs < LEFTOVER_MS) continue;
    await unlink(directory.entry(name)).catch(() => {});
  }
}

/**
 * Creates a new, empty file with a random name in `directory` (O_EXCL), to be written completely before it is renamed.
 * `discard` closes it, and removes it if it still has that name.
 *
 * @param mode permissions, before the umask
 * @param path the path to name in errors
 */
export async function createTemporaryFile(directory: GuardedDirectory, mode: number, path: string) {
  await directory.verify();
  await sweep(directory);
  const entry = directory.entry(temporaryName());
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
  const handle = await openUnlinked(entry, flags, mode);
  const discard = async () => {
    await handle.close().catch(() => {});
    // After it is renamed or removed, there is nothing left to remove.
    await unlink(entry).catch(() => {});
  };
  try {
    // Known since it was created, even on a file server.
    const identity = fstatSync(handle.fd, { bigint: true });
    await directory.verify();
    if (!isSame(await identityIn(directory, entry), identity))
      throw pathError("changed_meanwhile", path);
    return { handle, entry, identity, isLocal: directory.isLocal, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/**
 * Gives the new file the old one's mode, owner and birth time, as far as the system allows. The set-user-ID and
 * set-group-ID bits are cleared, as with every write(2) by a user other than root.
 */
async function copyAttributes(file: Awaited<ReturnType<typeof createTemporaryFile>>, old: Stats) {
  const { handle, identity, isLocal } = file;
  if (BigInt(old.uid) !== identity.uid || BigInt(old.gid) !== identity.gid)
    await handle.chown(old.uid, old.gid).catch(() => {});
  if (isLocal) fchmodSync(handle.fd, old.mode & 0o777);
  else await handle.chmod(old.mode & 0o777);
  // On these systems, a modification time before the birth time also sets the birth time: utimes(2).
  if (process.platform === "darwin" || process.platform === "freebsd") {
    for (const time of [old.birthtime, new Date()]) await handle.utimes(new Date(), time);
  }
}
