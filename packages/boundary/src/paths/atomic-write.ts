import { renameSync, type Stats } from "node:fs";
import { access, constants, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "../answer/errors.ts";
import { explain, isReachInside } from "./explain.ts";
import type { GuardContext } from "./open.ts";
import { fold, foldsCase } from "./path-text.ts";
import { openPlace, requireWritable, statEntry } from "./places.ts";
import { reach } from "./reach.ts";
import { changedConcurrently, exists, isDirectory, leadsOutside, specialFile } from "./refusals.ts";
import { giveFreeName, isStill } from "./rename.ts";
import { errorCode, isMissing, quote } from "./system-error.ts";
import { copyAttributes, createTemporaryFile } from "./temporary-file.ts";
import type { GuardedDirectory, GuardedFile, GuardedPlace, Identity, WriteOptions } from "./types.ts";

export interface Written {
  readonly created: boolean;
  /** Where the content is: the requested path, or the target of a link there. */
  readonly path: string;
}

/**
 * Writes a whole file atomically: to a temporary file next to it, which is synced and then renamed. On failure the
 * temporary file is removed and everything else is unchanged.
 *
 * The name gets a new inode, so a hard link elsewhere, perhaps outside the allowed directories, keeps the old content.
 * Extended attributes and access control lists are not preserved.
 */
export async function writeFileAt(
  path: string,
  content: Uint8Array,
  options: WriteOptions,
  context: GuardContext,
): Promise<Written> {
  const place = await openTarget(path, options, context);
  const real = join(place.parent.realPath, place.name);
  try {
    return await context.writing(foldsCase(context.platform) ? fold(real) : real, () =>
      writeInto(place, content, options, context),
    );
  } catch (error) {
    throw await explain(error, path, context);
  } finally {
    await place.parent.close();
  }
}

/** The location to write to: that of the path, or the target of a symlink there. */
async function openTarget(path: string, options: WriteOptions, context: GuardContext): Promise<GuardedPlace> {
  const place = await openPlace(path, context);
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
  const reached = await reach(path);
  if (!(await isReachInside(reached, context))) throw leadsOutside(path, context.bound);
  if (options.mode === "create") throw exists(path);
  const created = join(reached.real, ...reached.missing);
  const target = await openPlace(created, context, { write: true });
  if (target.stat?.isSymbolicLink() !== true) return target;
  await target.parent.close();
  throw changedConcurrently(path);
}

async function writeInto(
  place: GuardedPlace,
  content: Uint8Array,
  options: WriteOptions,
  context: GuardContext,
): Promise<Written> {
  const { parent, name, path } = place;
  const present = await statEntry(parent, name);
  if (present?.isDirectory()) throw isDirectory(path);
  if (present !== undefined && !present.isFile()) {
    throw present.isSymbolicLink() ? changedConcurrently(path) : specialFile(path, present);
  }
  if (present !== undefined && options.mode === "create") throw exists(path);
  if (present !== undefined) await requirePermission(place);

  const temporary = await createTemporaryFile(parent, present === undefined ? 0o666 : 0o600, path);
  try {
    await temporary.handle.writeFile(content);
    await temporary.handle.sync();
    const checked = options.check === undefined ? undefined : await runCheck(place, options.check, context);
    const old = checked?.stat ?? present;
    if (old !== undefined) await copyAttributes(temporary, old);
    // Windows does not rename an open file.
    await temporary.handle.close();
    await parent.verify();
    if (checked !== undefined) {
      replaceChecked(temporary.entry, place, checked.identity);
    } else if (options.mode === "create" || options.check !== undefined) {
      await giveFreeName(temporary, place.entry, path);
    } else {
      await rename(temporary.entry, place.entry);
    }
    await parent.verify();
    await syncDirectory(parent);
    return { created: old === undefined, path };
  } finally {
    await temporary.discard();
  }
}

/** Lets the caller check the content that is about to be replaced. */
async function runCheck(
  { entry, path }: GuardedPlace,
  check: NonNullable<WriteOptions["check"]>,
  { opener }: GuardContext,
): Promise<{ stat: Stats; identity: Identity } | undefined> {
  let existing: GuardedFile;
  try {
    existing = await opener.openFile(entry, path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await check(undefined);
    return undefined;
  }
  try {
    await check(existing);
    return { stat: existing.stat, identity: await existing.handle.stat({ bigint: true }) };
  } finally {
    await existing.handle.close();
  }
}

/** Nothing else in this process runs between the two calls, so what was checked is what is replaced. */
function replaceChecked(temporary: string, { entry, path }: GuardedPlace, checked: Identity): void {
  if (!isStill(entry, checked)) throw changedConcurrently(path);
  renameSync(temporary, entry);
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
    throw new ToolError("denied", `${quote(path)} is write-protected by its permissions.`, {
      code: "not_writable",
      hint: "Ask the user to make it writable, or write another file.",
    });
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
