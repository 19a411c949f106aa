import { type BigIntStats, lstatSync, renameSync, type Stats } from "node:fs";
import {
  access,
  constants,
  type FileHandle,
  lstat,
  open,
  readdir,
  rename,
  unlink,
} from "node:fs/promises";
import { join } from "node:path";
import { openEntry, requireWritable, statEntry, withEntry } from "./entries.ts";
import { existingPart } from "./existing.ts";
import { isInsideNow } from "./explain.ts";
import { giveFreeName, isStill, temporaryName } from "./move.ts";
import { fold, foldsCase } from "./names.ts";
import { openUnlinked } from "./open.ts";
import {
  errorCode,
  isMissing,
  leadsOutside,
  pathError,
  pathFailure,
  quote,
  specialFile,
} from "./path-errors.ts";
import {
  type GuardContext,
  type GuardedDirectory,
  type GuardedFile,
  type GuardedPlace,
  type Identity,
  isSame,
  type WriteOptions,
} from "./types.ts";
import { whileHeld } from "./while-held.ts";

/** The bytes of a file: all of them, or piece by piece. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** See `PathGuard.updateFile`. */
export async function updateFileAt<Result>(
  path: string,
  work: (handle: FileHandle, stat: Stats) => Promise<Result>,
  context: GuardContext,
): Promise<Result> {
  return inLine(path, {}, context, async (place) => {
    await requirePermission(place);
    const existing = await context.opener.openFile(place.entry, path);
    let handle: FileHandle | undefined;
    try {
      handle = await openUnlinked(place.entry, constants.O_RDWR | constants.O_APPEND);
      const opened = await handle.stat({ bigint: true });
      if (!isSame(opened, await existing.handle.stat({ bigint: true })))
        throw pathError("changed_meanwhile", path);
      await place.parent.verify();
      requireOneName(existing.stat, path);
      return await work(handle, existing.stat);
    } finally {
      await handle?.close();
      await existing.handle.close();
    }
  });
}

/** See `PathGuard.writeFile`. Extended attributes and access control lists are not preserved. */
export async function writeFileAt(
  path: string,
  content: Content,
  options: WriteOptions,
  context: GuardContext,
): Promise<{ created: boolean; path: string }> {
  return inLine(path, options, context, (place) => writeInto(place, content, options, context));
}

/** Runs `work` with the place to write to, after all earlier writers of the same file. */
async function inLine<Result>(
  path: string,
  options: WriteOptions,
  context: GuardContext,
  work: (place: GuardedPlace) => Promise<Result>,
): Promise<Result> {
  const writing = (place: GuardedPlace) => {
    const real = join(place.parent.realPath, place.name);
    return context.writing.run(foldsCase() ? fold(real) : real, () => work(place));
  };
  return withEntry(path, openTarget(path, options, context), context, writing);
}

/** The location to write to: that of the path, or the target of a symlink there. */
async function openTarget(
  path: string,
  options: WriteOptions,
  context: GuardContext,
): Promise<GuardedPlace> {
  const place = await openEntry(path, context);
  try {
    if (place.stat?.isSymbolicLink() !== true) {
      requireWritable(place, context);
      return place;
    }
  } catch (error) {
    await place.parent.close();
    throw error;
  }
  await place.parent.close();
  const existing = await existingPart(path);
  if (!(await isInsideNow(existing, context))) throw leadsOutside(path, context.allowed);
  if (options.mode === "create") throw pathError("eexist", path);
  const created = join(existing.real, ...existing.missing);
  const target = await openEntry(created, context, { write: true });
  if (target.stat?.isSymbolicLink() !== true) return target;
  await target.parent.close();
  throw pathError("changed_meanwhile", path);
}

async function writeInto(
  place: GuardedPlace,
  content: Content,
  options: WriteOptions,
  context: GuardContext,
): Promise<{ created: boolean; path: string }> {
  const { parent, name, path } = place;
  const present = await statEntry(parent, name);
  if (present?.isDirectory()) throw pathError("is_directory", path);
  if (present !== undefined && !present.isFile()) {
    throw present.isSymbolicLink()
      ? pathError("changed_meanwhile", path)
      : specialFile(path, present);
  }
  if (present !== undefined && options.mode === "create") throw pathError("eexist", path);
  if (present !== undefined) await requirePermission(place);

  const temporary = await createTemporaryFile(parent, present === undefined ? 0o666 : 0o600, path);
  try {
    // Each call continues where the previous one ended.
    if (content instanceof Uint8Array) await temporary.handle.writeFile(content);
    else for await (const bytes of content) await temporary.handle.writeFile(bytes);
    await temporary.handle.sync();
    const checked =
      options.check === undefined ? undefined : await runCheck(place, options.check, context);
    const old = checked?.stat ?? present;
    if (old !== undefined) await copyAttributes(temporary, old);
    // Windows does not rename an open file.
    await temporary.handle.close();
    await parent.verify();
    if (checked !== undefined) {
      await whileHeld(path, () => replaceChecked(temporary.entry, place, checked));
    } else if (options.mode === "create" || options.check !== undefined) {
      await giveFreeName(temporary, place.entry, path);
    } else {
      await whileHeld(path, () => rename(temporary.entry, place.entry));
    }
    await parent.verify();
    await syncDirectory(parent);
    return { created: old === undefined, path };
  } finally {
    await temporary.discard();
  }
}

interface CheckedFile {
  readonly stat: Stats;
  readonly identity: Identity;
}

async function runCheck(
  { entry, path }: GuardedPlace,
  check: NonNullable<WriteOptions["check"]>,
  { opener }: GuardContext,
): Promise<CheckedFile | undefined> {
  let existing: GuardedFile;
  try {
    existing = await opener.openFile(entry, path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await check(undefined);
    return undefined;
  }
  try {
    const identity = await existing.handle.stat({ bigint: true });
    await check(existing);
    return { stat: existing.stat, identity };
  } finally {
    await existing.handle.close();
  }
}

/**
 * Nothing else in this process runs between these calls, so what was checked is what is replaced. The size and time
 * count too: another program may have written into the file, or a new file may have got the inode of a replaced one.
 */
function replaceChecked(
  temporary: string,
  { entry, path }: GuardedPlace,
  { stat, identity }: CheckedFile,
): void {
  const now = lstatSync(entry, { throwIfNoEntry: false });
  const isUnchanged = now?.size === stat.size && now.mtimeMs === stat.mtimeMs;
  if (!isUnchanged || !isStill(entry, identity)) throw pathError("changed_meanwhile", path);
  renameSync(temporary, entry);
}

/**
 * Refuses to change a file in place if it has another name, which may be outside the allowed directories.
 *
 * @throws ToolError `denied`.
 */
function requireOneName({ nlink }: Stats, path: string): void {
  if (nlink <= 1) return;
  const what = `has ${nlink} hard links, and this would change the file under all of its names, which may be outside the allowed directories`;
  throw pathFailure("several_links", `${quote(path)} ${what}.`);
}

/**
 * Replacing a file needs no permission on the file itself, but a user who removed that permission wants it unchanged.
 */
async function requirePermission({ entry, path }: GuardedPlace): Promise<void> {
  try {
    await access(entry, constants.W_OK);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "EACCES" && code !== "EPERM") throw error;
    throw pathError("not_writable", path);
  }
}

/** Makes the rename survive a power failure, if the file system can sync a directory. */
async function syncDirectory(directory: GuardedDirectory): Promise<void> {
  try {
    const handle = await open(directory.entry(""), constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Windows and some network file systems: the file has its name, but it may not be on the disk yet.
  }
}

/** A new file with a random name, written completely before it is renamed. */
interface TemporaryFile {
  readonly handle: FileHandle;
  readonly entry: string;
  readonly identity: BigIntStats;
  /** Closes the file, and removes it if it still has its random name. */
  discard(): Promise<void>;
}

const TEMPORARY_NAME = /^\.refmcp-[\w-]{12}\.tmp$/;
/**
 * After this time without a write, in milliseconds, a temporary file counts as left behind by a killed process.
 */
const LEFTOVER_MS = 3_600_000;
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
  const handle = await openUnlinked(
    entry,
    constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
    mode,
  );
  try {
    const identity = await handle.stat({ bigint: true });
    await directory.verify();
    if (!isSame(await lstat(entry, { bigint: true }), identity))
      throw pathError("changed_meanwhile", path);
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
async function copyAttributes({ handle, identity }: TemporaryFile, old: Stats): Promise<void> {
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
