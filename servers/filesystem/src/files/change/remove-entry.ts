import { randomBytes } from "node:crypto";
import { rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  errorCode,
  type GuardedDirectory,
  type GuardedPlace,
  ownDirectory,
  type PathGuard,
  systemError,
} from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { notThere, withPlace } from "../open-path.ts";
import { typeOf } from "../tree/open-below.ts";

/**
 * A name for an entry that is about to be renamed back or removed. If this process is killed, it may be the only copy,
 * so it does not have the name of a temporary file, which would be cleaned up.
 */
function hiddenName(): string {
  return `.refmcp-${randomBytes(9).toString("base64url")}.moved`;
}

/**
 * Removes the entry at `path` in one step: to `image` outside the bound, or permanently. A link itself is removed. On
 * failure, everything is unchanged and `image` does not exist.
 *
 * @returns the path of an entry that could not be deleted, if any.
 * @throws ToolError `not_found`, and what the guard throws.
 */
export async function removeEntry(
  guard: PathGuard,
  path: string,
  image: string | undefined,
  signal?: AbortSignal,
): Promise<string | undefined> {
  return withPlace(guard, path, async (place) => {
    await ordinaryType(guard, place);
    if (image !== undefined && (await renamed(place.entry, image))) return undefined;
    if (image === undefined && place.stat?.isDirectory() !== true) {
      await unlink(place.entry);
      return undefined;
    }
    return removeByCopy(guard, place, image, signal);
  }).catch((error: unknown) => {
    throw systemError(error, path);
  });
}

/** Renames the entry to a hidden name first, so it disappears at once, however long the rest takes. */
async function removeByCopy(
  guard: PathGuard,
  place: GuardedPlace,
  image: string | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { parent, path } = place;
  const hidden = { parent, name: hiddenName(), path };
  await rename(place.entry, parent.entry(hidden.name));
  const hiddenPath = join(parent.path, hidden.name);
  if (image !== undefined) {
    try {
      await guard.copyTree(hidden, imageSpot(image), { signal, skipped: () => {} });
    } catch (error) {
      await rm(image, { recursive: true, force: true }).catch(() => {});
      await guard.move(hiddenPath, path);
      throw error;
    }
  }
  return guard.removeTree(hidden).then(
    () => undefined,
    () => hiddenPath,
  );
}

function imageSpot(image: string) {
  return { parent: ownDirectory(dirname(image)), name: basename(image), path: image };
}

/**
 * Restores what `removeEntry` moved to `image`, with its mode and times. `path` must be free.
 *
 * @param options.ready called when it is complete except for the rename; if it fails, nothing is changed.
 * @throws ToolError `conflict` if something is there; the image is kept.
 */
export async function restoreEntry(
  guard: PathGuard,
  image: string,
  path: string,
  {
    ready,
    signal,
  }: { ready?(parent: GuardedDirectory, name: string): Promise<void>; signal?: AbortSignal | undefined },
): Promise<void> {
  const hidden = hiddenName();
  await withPlace(guard, path, async ({ parent, stat }) => {
    if (stat !== undefined)
      throw new ToolError("conflict", `"${oneLine(path)}" already exists.`, {
        hint: "Move or delete it first.",
      });
    const moved = await renamed(image, parent.entry(hidden));
    try {
      if (!moved) await guard.copyTree(imageSpot(image), { parent, name: hidden, path }, { signal });
      await ready?.(parent, hidden);
      await guard.move(join(parent.path, hidden), path);
    } catch (error) {
      if (moved) await rename(parent.entry(hidden), image);
      else await discard(guard, parent, hidden);
      throw error;
    }
    if (!moved) await rm(image, { recursive: true, force: true });
  }).catch((error: unknown) => {
    throw systemError(error, path);
  });
}

/** Removes one of our files, if it exists. */
export async function discard(guard: PathGuard, parent: GuardedDirectory, name: string): Promise<void> {
  // It may be missing or in use; its name is unique anyway.
  await guard.removeTree({ parent, name, path: join(parent.path, name) }).catch(() => {});
}

/** Renames, or returns false if the places are on different file systems. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EXDEV") return false;
    throw error;
  }
}

/**
 * The entry at a path that is to be moved or deleted.
 *
 * @throws ToolError `not_found`, and `denied` for anything other than a file, directory or link.
 */
export async function ordinaryType(
  guard: PathGuard,
  { stat, path }: GuardedPlace,
): Promise<"file" | "directory" | "link"> {
  const type = typeOf(stat ?? (await notThere(guard, path)));
  if (type !== "other") return type;
  throw new ToolError(
    "denied",
    `"${oneLine(path)}" is a device, FIFO or socket; only files, directories and symlinks can be changed.`,
    { hint: "Choose another path." },
  );
}
