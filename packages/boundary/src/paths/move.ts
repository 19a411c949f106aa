import { randomUUID } from "node:crypto";
import { type BigIntStats, linkSync, lstatSync, renameSync, type Stats, unlinkSync } from "node:fs";
import {
  access,
  constants,
  mkdir,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { walkedDirectory } from "./below.ts";
import { explain, identityIn, withEntry } from "./entries.ts";
import { fold, isInside } from "./names.ts";
import { errorCode, pathError, quote, specialFileError } from "./path-errors.ts";
import { copyTree, type Inventory, removeTree } from "./tree.ts";
import { type GuardContext, type GuardedPlace, type Identity, isSame } from "./types.ts";
import { whileHeld } from "./while-held.ts";

/** See `PathGuard.move`. */
export async function moveEntry(
  from: string,
  to: string,
  context: GuardContext,
  check?: (entry: string) => void,
): Promise<void> {
  await withEntry(from, context, { write: true }, async (source) => {
    const stat = await identityIn(source.parent, source.entry);
    if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink())
      throw specialFileError(from, stat);
    check?.(source.entry);
    const result = withEntry(to, context, { write: true }, (target) =>
      moveTo(source, stat, target, context),
    );
    await result.catch(async (error: unknown) => {
      // rename(2) does not report which of the two paths caused the error.
      const code = errorCode(error) ?? "";
      const isAboutSource =
        code === "EBUSY" ||
        (/^E(ACCES|PERM)$/.test(code) &&
          (await access(source.parent.entry(""), constants.W_OK).catch(() => true)));
      throw await explain(error, isAboutSource ? from : to, context);
    });
  });
}

async function moveTo(
  source: GuardedPlace,
  stat: BigIntStats,
  target: GuardedPlace,
  { allowed }: GuardContext,
): Promise<void> {
  const { parent, path } = source;
  if (stat.isDirectory() && isInside(target.parent.realPath, join(parent.realPath, source.name)))
    throw pathError("into_itself", path, { detail: quote(target.path) });
  const verify = async () => {
    await parent.verify();
    await target.parent.verify();
  };
  await verify();
  if (await isOneEntry(source, target)) {
    await whileHeld(path, () => rename(source.entry, target.entry));
    return verify();
  }
  if (target.stat !== undefined) throw pathError("eexist", target.path);
  try {
    await renameFree(source, stat, target);
    return await verify();
  } catch (error) {
    if (errorCode(error) === "ENOENT") throw pathError("changed_meanwhile", path);
    if (errorCode(error) !== "EXDEV") throw error;
  }
  // Another file system. The source is removed last, and only what was copied, so nothing can be lost.
  const directory = walkedDirectory(target.parent, allowed);
  const original = { directory: walkedDirectory(parent, allowed), name: source.name, path };
  const copy = { directory, name: temporaryName(), path: target.path };
  let inventory: Inventory;
  try {
    inventory = await copyTree(original, copy);
    await moveInto(target.parent.entry(copy.name), target);
  } catch (error) {
    await removeTree(copy).catch(() => {});
    throw error;
  }
  await removeTree(original, inventory).catch((error: unknown) => {
    throw pathError("source_remains", path, { detail: quote(target.path), cause: error });
  });
}

/**
 * Whether both paths are the same entry: the same name, or two variants of it on a file system that treats
 * them as equal (then the rename changes case or Unicode form). Two hard links in one directory are two
 * entries.
 */
async function isOneEntry(source: GuardedPlace, target: GuardedPlace): Promise<boolean> {
  const here = await identityIn(source.parent, source.parent.entry(""));
  if (!isSame(here, await identityIn(target.parent, target.parent.entry("")))) return false;
  if (source.name === target.name) return true;
  if (target.stat === undefined || fold(source.name) !== fold(target.name)) return false;
  const names = await readdir(source.parent.entry(""));
  return !(names.includes(source.name) && names.includes(target.name));
}

/**
 * A unique name that nobody can guess, for our incomplete copy. Never for the user's files: old files with such a name
 * are removed.
 *
 * @param extension another one than `tmp` for what must stay even if this process is killed
 */
export function temporaryName(extension = "tmp"): string {
  return `.refmcp-${randomUUID().slice(-12)}.${extension}`;
}

/**
 * Moves an entry of our own directory to a place on the same file system, which must be free.
 *
 * @param stat the file that is there; it must be unchanged, and is replaced
 * @throws ToolError `conflict`; the operating system's error
 */
export async function moveInto(entry: string, target: GuardedPlace, stat?: Stats): Promise<void> {
  const { parent, path } = target;
  await parent.verify();
  if (stat !== undefined) await whileHeld(path, () => replaceUnchanged(entry, target, stat));
  else await renameFree({ entry, path }, await identityIn(parent, entry), target);
  await parent.verify();
}

/**
 * Nothing else in this process runs between these calls, so what was checked is what is replaced. The size and time
 * count too: another program may have written into the file, or a new file may have got the inode of a replaced one.
 */
export function replaceUnchanged(entry: string, { entry: to, path }: GuardedPlace, stat: Stats) {
  const now = lstatSync(to, { throwIfNoEntry: false });
  const isOld = now?.ino === stat.ino && now.dev === stat.dev;
  if (!isOld || now.size !== stat.size || now.mtimeMs !== stat.mtimeMs)
    throw pathError("changed_meanwhile", path);
  renameSync(entry, to);
}

/**
 * Moves an entry to a free name on its file system, which ensures that it is free.
 *
 * @throws EEXIST if it is taken; EXDEV, with nothing changed, if the paths are on two file systems
 */
async function renameFree(
  { entry, path }: Pick<GuardedPlace, "entry" | "path">,
  stat: BigIntStats,
  target: GuardedPlace,
): Promise<void> {
  if (!stat.isDirectory())
    return giveFreeName({ entry, identity: stat }, target.entry, target.path);
  // On Windows, renaming a directory never replaces anything.
  if (process.platform === "win32") return whileHeld(path, () => rename(entry, target.entry));
  return renameOverHolder(entry, target.entry, path, true);
}

/** Whether `entry` is what it was when its identity was read. */
function hasIdentity(entry: string, identity: Identity): boolean {
  const now = lstatSync(entry, { bigint: true, throwIfNoEntry: false });
  return now !== undefined && isSame(now, identity);
}

/** Removes a name, unless another program has created something new there. */
function unlinkIfSame(entry: string, identity: Identity): void {
  if (hasIdentity(entry, identity)) unlinkSync(entry);
}

/** The errors of link(2) if a file system, or the kernel's hard link protection, does not allow the link. */
const noLinks = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Gives a file or a link the name `to` instead of the one it has. The file system checks atomically that it is free, so exactly
 * one of several callers gets it. rename(2) would replace an existing file, and Node.js has no RENAME_NOREPLACE.
 *
 * @param path what to call `to` in errors
 * @throws EEXIST if `to` is taken; ToolError `conflict` if `entry` is now another file
 */
export async function giveFreeName(
  { entry, identity }: { readonly entry: string; readonly identity: BigIntStats },
  to: string,
  path: string,
): Promise<void> {
  const isLink = identity.isSymbolicLink();
  try {
    // link(2) follows links on macOS, so a link is made again with the same text.
    if (isLink) await symlink(await readlink(entry), to);
    else linkSync(entry, to);
  } catch (error) {
    if (!noLinks.has(errorCode(error) ?? "")) throw error;
    return renameOverHolder(entry, to, path, false);
  }
  const linkStat = lstatSync(to, { bigint: true });
  try {
    // A link may have replaced the file, which would give an outside file a name inside.
    if (!isLink && !isSame(linkStat, identity)) throw pathError("changed_meanwhile", path);
    await whileHeld(path, () => unlinkIfSame(entry, identity));
  } catch (error) {
    unlinkIfSame(to, linkStat);
    throw error;
  }
}

/**
 * Our empty file or directory reserves the name until the rename replaces it, which for a directory succeeds only while
 * it is empty.
 */
async function renameOverHolder(entry: string, to: string, path: string, isDirectory: boolean) {
  await (isDirectory ? mkdir(to, 0o700) : writeFile(to, "", { flag: "wx" }));
  const holderStat = lstatSync(to, { bigint: true });
  try {
    await whileHeld(path, () => {
      if (!hasIdentity(to, holderStat)) throw pathError("changed_meanwhile", path);
      renameSync(entry, to);
    });
  } catch (error) {
    if (hasIdentity(to, holderStat)) await (isDirectory ? rmdir(to) : unlink(to)).catch(() => {});
    throw error;
  }
}
