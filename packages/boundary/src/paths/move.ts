import { randomBytes } from "node:crypto";
import { type BigIntStats, lstatSync, renameSync, type Stats, unlinkSync } from "node:fs";
import {
  access,
  constants,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
} from "node:fs/promises";
import { join } from "node:path";
import { walkedDirectory } from "./below.ts";
import { openEntry, withEntry } from "./entries.ts";
import { explain } from "./explain.ts";
import { fold, isInside } from "./names.ts";
import { errorCode, pathError, pathFailure, quote, specialFile } from "./path-errors.ts";
import { copyTree, type Inventory, removeTree, type TreeEntry } from "./tree.ts";
import {
  type GuardContext,
  type GuardedPlace,
  type Identity,
  isSame,
  type Opener,
} from "./types.ts";
import { whileHeld } from "./while-held.ts";

/** See `PathGuard.move`. */
export async function moveEntry(
  from: string,
  to: string,
  { overwrite = false }: { overwrite?: boolean },
  context: GuardContext,
): Promise<void> {
  const opened = (path: string) => openEntry(path, context, { write: true });
  await withEntry(from, opened(from), context, async (source) => {
    const stat = await lstat(source.entry, { bigint: true });
    if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink())
      throw specialFile(from, stat);
    await withEntry(to, opened(to), context, (target) =>
      moveTo({ place: source, stat }, target, overwrite, context).catch(async (error: unknown) => {
        if (errorCode(error) === "ENOENT") throw pathError("changed_meanwhile", from);
        throw (await isAboutSource(error, source, target))
          ? await explain(error, from, context)
          : error;
      }),
    );
  });
}

async function moveTo(
  moved: Moved,
  target: GuardedPlace,
  overwrite: boolean,
  context: GuardContext,
): Promise<void> {
  const { parent } = moved.place;
  const path = join(parent.realPath, moved.place.name);
  if (moved.stat.isDirectory() && isInside(target.parent.realPath, path)) {
    const what = `${quote(moved.place.path)} cannot be moved into itself (${quote(target.path)}).`;
    throw pathFailure("into_itself", what);
  }
  await parent.verify();
  await target.parent.verify();
  try {
    await renameEntry(moved, target, overwrite);
  } catch (error) {
    if (errorCode(error) !== "EXDEV") throw error;
    await moveAcross(moved, target, overwrite, context);
  }
  await parent.verify();
  await target.parent.verify();
}

/** rename(2) does not report which of the two paths caused the error. */
async function isAboutSource(
  error: unknown,
  source: GuardedPlace,
  target: GuardedPlace,
): Promise<boolean> {
  switch (errorCode(error)) {
    case "EBUSY":
      return target.stat === undefined;
    case "EACCES":
    case "EPERM":
      return access(source.parent.entry(""), constants.W_OK).then(
        () => false,
        () => true,
      );
    default:
      return false;
  }
}

/** Moves between two file systems. The source is removed last, and only what was copied, so nothing can be lost. */
async function moveAcross(
  { place: source }: Moved,
  target: GuardedPlace,
  overwrite: boolean,
  { opener }: GuardContext,
): Promise<void> {
  const { parent, path } = target;
  const name = temporaryName();
  const place = { parent, name, path, entry: parent.entry(name) };
  const original = await treeEntry(source, opener);
  const copy = await treeEntry(place, opener);
  let copied: Inventory;
  try {
    copied = await copyTree(original, copy);
    const moved = { place, stat: await lstat(place.entry, { bigint: true }) };
    await renameEntry(moved, target, overwrite);
  } catch (error) {
    await removeTree(copy).catch(() => {});
    throw error;
  }
  try {
    await removeTree(original, copied);
  } catch (error) {
    const what = `${quote(source.path)} was copied to ${quote(path)}, but the original could not be fully removed.`;
    throw pathFailure("source_remains", what, { cause: error });
  }
}

async function treeEntry(place: Moved["place"], opener: Opener): Promise<TreeEntry> {
  const { parent, name, path } = place;
  return { directory: await walkedDirectory(parent, opener), name, path };
}

/**
 * A unique name that nobody can guess, for our incomplete copy. Never for the user's files: old files with such a name
 * are removed.
 *
 * @param extension another one than `tmp` for what must stay even if this process is killed
 */
export function temporaryName(extension = "tmp"): string {
  return `.refmcp-${randomBytes(9).toString("base64url")}.${extension}`;
}

interface Moved {
  readonly place: Pick<GuardedPlace, "parent" | "name" | "path" | "entry">;
  readonly stat: BigIntStats;
}

/**
 * Moves an entry within one file system. Without `overwrite`, the file system itself ensures that the name is free.
 * With it, a file or link replaces a file or link, and a directory an empty directory.
 *
 * @throws ToolError `conflict`, `invalid`; EXDEV, with nothing changed, if the paths are on two file systems
 */
async function renameEntry(moved: Moved, target: GuardedPlace, overwrite: boolean): Promise<void> {
  const { place, stat } = moved;
  if (await isOneEntry(place, target)) {
    if (place.name !== target.name)
      await whileHeld(place.path, () => rename(place.entry, target.entry));
  } else if (target.stat !== undefined && !overwrite) {
    throw pathError("eexist", target.path);
  } else if (target.stat !== undefined) {
    await replace(moved, target);
  } else if (stat.isDirectory()) {
    await moveDirectory(place, target.entry);
  } else {
    await moveFile(moved, target);
  }
}

/**
 * Whether both paths are the same entry: the same name, or two variants of it on a file system that treats
 * them as equal (then the rename changes case or Unicode form). Two hard links in one directory are two
 * entries.
 */
async function isOneEntry(source: Moved["place"], target: GuardedPlace): Promise<boolean> {
  const [here, there] = await Promise.all([
    lstat(source.parent.entry(""), { bigint: true }),
    lstat(target.parent.entry(""), { bigint: true }),
  ]);
  if (!isSame(here, there)) return false;
  if (source.name === target.name) return true;
  if (target.stat === undefined || fold(source.name) !== fold(target.name)) return false;
  const names = await readdir(source.parent.entry(""));
  return !(names.includes(source.name) && names.includes(target.name));
}

async function replace({ place, stat }: Moved, target: GuardedPlace): Promise<void> {
  const isReplacingDirectory = target.stat?.isDirectory() === true;
  if (isReplacingDirectory && !stat.isDirectory()) throw pathError("is_directory", target.path);
  if (!isReplacingDirectory && stat.isDirectory()) throw pathError("eexist", target.path);
  // Windows cannot replace a directory.
  if (isReplacingDirectory && process.platform === "win32") await rmdir(target.entry);
  // rename(2) does nothing if both are hard links to one file.
  if (isStill(target.entry, stat))
    await whileHeld(place.path, () => unlinkIfSame(place.entry, stat));
  else await whileHeld(target.path, () => rename(place.entry, target.entry));
}

/**
 * Our empty directory reserves the name. The rename may replace only that directory, and only while it is empty.
 */
async function moveDirectory(
  { entry: source, path }: Moved["place"],
  target: string,
): Promise<void> {
  // On Windows, renaming a directory never replaces anything.
  if (process.platform === "win32") {
    await whileHeld(path, () => rename(source, target));
    return;
  }
  await mkdir(target, 0o700);
  try {
    await rename(source, target);
  } catch (error) {
    await rmdir(target).catch(() => {});
    throw error;
  }
}

/** A link is recreated with the same text: link(2) follows links on macOS. */
async function moveFile({ place, stat }: Moved, target: GuardedPlace): Promise<void> {
  if (stat.isSymbolicLink()) {
    await symlink(await readlink(place.entry), target.entry);
  } else {
    const done = await giveFreeName(
      { entry: place.entry, identity: stat },
      target.entry,
      target.path,
    );
    if (done === "moved") return;
  }
  const made = lstatSync(target.entry, { bigint: true });
  try {
    await whileHeld(place.path, () => unlinkIfSame(place.entry, stat));
  } catch (error) {
    unlinkIfSame(target.entry, made);
    throw error;
  }
}

/**
 * Moves an entry of our own directory to a place on the same file system, which must be free.
 *
 * @param replaced the file that is there; it must be unchanged, and is replaced
 * @throws ToolError `conflict`; the operating system's error
 */
export async function moveInto(
  entry: string,
  target: GuardedPlace,
  replaced?: Stats,
): Promise<void> {
  const { parent, path } = target;
  await parent.verify();
  const stat = await lstat(entry, { bigint: true });
  const place = { parent, name: "", path, entry };
  if (replaced !== undefined)
    await whileHeld(path, () => {
      const now = lstatSync(target.entry, { throwIfNoEntry: false });
      const isSameFile = now?.ino === replaced.ino && now.dev === replaced.dev;
      if (!isSameFile || now.size !== replaced.size || now.mtimeMs !== replaced.mtimeMs)
        throw pathError("changed_meanwhile", path);
      renameSync(entry, target.entry);
    });
  else if (stat.isDirectory()) await moveDirectory(place, target.entry);
  else await moveFile({ place, stat }, target);
  await parent.verify();
}

/** Whether `entry` is what it was when its identity was read. */
export function isStill(entry: string, identity: Identity): boolean {
  const now = lstatSync(entry, { bigint: true, throwIfNoEntry: false });
  return now !== undefined && isSame(now, identity);
}

/** Removes a name, unless another program has created something new there. */
function unlinkIfSame(entry: string, identity: Identity): void {
  if (isStill(entry, identity)) unlinkSync(entry);
}

/** The errors of link(2) if a file system, or the kernel's hard link protection, does not allow the link. */
const noLinks = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Gives a file the name `to`, which must be free. The file system checks this atomically, so exactly one of several
 * callers gets the name. rename(2) would replace an existing file, and Node.js has no RENAME_NOREPLACE.
 *
 * @param path what to call `to` in errors
 * @returns `linked` if the old name still exists and has to be removed, `moved` if it is gone
 * @throws EEXIST if `to` is taken; ToolError `conflict` if `entry` is now another file
 */
export async function giveFreeName(
  { entry, identity }: { readonly entry: string; readonly identity: Identity },
  to: string,
  path: string,
): Promise<"linked" | "moved"> {
  try {
    await link(entry, to);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || !noLinks.has(code)) throw error;
    await renameOverHolder(entry, to, path);
    return "moved";
  }
  // macOS follows a link that has replaced the file, which would give an outside file a name inside.
  if (isSame(lstatSync(to, { bigint: true }), identity)) return "linked";
  unlinkSync(to);
  throw pathError("changed_meanwhile", path);
}

/** Without hard links, our empty file reserves the name until the rename replaces it. */
async function renameOverHolder(entry: string, to: string, path: string): Promise<void> {
  const holder = await open(to, "wx");
  const held = await holder.stat({ bigint: true });
  await holder.close();
  try {
    await whileHeld(path, () => {
      if (!isStill(to, held)) throw pathError("changed_meanwhile", path);
      renameSync(entry, to);
    });
  } catch (error) {
    unlinkIfSame(to, held);
    throw error;
  }
}
