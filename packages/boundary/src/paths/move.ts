import { access, constants, lstat } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "../answer/errors.ts";
import { explain } from "./explain.ts";
import type { GuardContext } from "./open.ts";
import { isInside } from "./path-text.ts";
import { openPlace } from "./places.ts";
import { changedConcurrently, specialFile } from "./refusals.ts";
import { type Moved, renameEntry } from "./rename.ts";
import { errorCode, quote } from "./system-error.ts";
import { temporaryName } from "./temporary-file.ts";
import { copyTree, type Inventory, removeTree } from "./tree.ts";
import type { GuardedPlace } from "./types.ts";

/**
 * Moves the entry at `from` to `to`: atomically within one file system, otherwise with a copy that is renamed when
 * complete, after which the source is removed. A link is moved as a link, with its text unchanged.
 */
export async function moveEntry(
  from: string,
  to: string,
  { overwrite = false }: { overwrite?: boolean },
  context: GuardContext,
): Promise<void> {
  const source = await openPlace(from, context, { write: true });
  try {
    const stat = await lstat(source.entry, { bigint: true }).catch(async (error: unknown) => {
      throw await explain(error, from, context);
    });
    if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink()) throw specialFile(from, stat);
    const target = await openPlace(to, context, { write: true });
    try {
      await moveTo({ place: source, stat }, target, overwrite, context);
    } catch (error) {
      if (errorCode(error) === "ENOENT") throw changedConcurrently(from);
      throw await explain(error, (await isAboutSource(error, source, target)) ? from : to, context);
    } finally {
      await target.parent.close();
    }
  } finally {
    await source.parent.close();
  }
}

async function moveTo(
  moved: Moved,
  target: GuardedPlace,
  overwrite: boolean,
  context: GuardContext,
): Promise<void> {
  const { parent } = moved.place;
  const path = join(parent.realPath, moved.place.name);
  if (moved.stat.isDirectory() && isInside(target.parent.realPath, path, context.platform)) {
    const message = `${quote(moved.place.path)} cannot be moved into itself (${quote(target.path)}).`;
    const hint = "Choose a destination outside the directory being moved.";
    throw new ToolError("invalid", message, { code: "into_itself", hint });
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
async function isAboutSource(error: unknown, source: GuardedPlace, target: GuardedPlace): Promise<boolean> {
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
  const copy = { parent, name, path, entry: parent.entry(name) };
  let copied: Inventory;
  try {
    copied = await copyTree(source, copy, opener);
    await renameEntry({ place: copy, stat: await lstat(copy.entry, { bigint: true }) }, target, overwrite);
  } catch (error) {
    await removeTree(copy, opener).catch(() => {});
    throw error;
  }
  try {
    await removeTree(source, opener, copied);
  } catch (error) {
    throw new ToolError(
      "conflict",
      `${quote(source.path)} was copied to ${quote(path)}, but the original could not be fully removed.`,
      { code: "source_remains", hint: "No data is lost: compare the two, then delete one.", cause: error },
    );
  }
}
