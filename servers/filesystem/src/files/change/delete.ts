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
  whileHeld,
} from "@refmcp/boundary";
import { grouped, sized } from "@refmcp/boundary/answer";
import type { Recording } from "../journal/recording.ts";
import { failure, named } from "../messages.ts";
import { entryPath, notThere, placeOf, withDirectory, withPlace } from "../open-path.ts";
import { typeOf } from "../tree/open-below.ts";
import type { ChangeContext } from "./change-context.ts";
import { contentOf, describe, entriesOf } from "./entries.ts";

export type DeletePlan = Awaited<ReturnType<typeof planDelete>>;

/**
 * Determines what deleting `path` would remove, without changing anything: `content` of a directory, the total `bytes`
 * of all files, why it would be lost (`final`), and the `question` to ask the user first, if one is needed.
 *
 * @throws ToolError `conflict` for a directory that is not empty without `recursive`, `too_large` beyond a million
 * entries.
 */
export async function planDelete(
  { guard, journal }: ChangeContext,
  given: string,
  { recursive, signal }: { recursive: boolean; signal?: AbortSignal | undefined },
) {
  const place = await placeOf(guard, given, { write: true });
  const { path } = place;
  const type = await ordinaryType(guard, place);
  const look = (directory: GuardedDirectory) => contentOf(guard, directory, { signal });
  const content = type === "directory" ? await withDirectory(guard, path, look) : undefined;
  const entries = entriesOf(content);
  if (entries > 0 && !recursive) {
    throw failure("not_empty", `${named(path)} is a directory with ${grouped(entries)} entries.`);
  }
  const bytes = content?.bytes ?? (type === "file" ? (place.stat?.size ?? 0) : 0);
  const final = await journal.whyLost(join(place.parent.realPath, place.name), bytes);
  const isLost = final !== undefined && (type !== "directory" || entries > 0);
  const what =
    content === undefined ? `(${sized(bytes)})` : `and its contents: ${describe(content)}`;
  const question = isLost
    ? `Delete ${named(path)} ${what}? It will be permanently lost: ${final}.`
    : undefined;
  const action = `Delete ${content === undefined ? named(basename(path)) : describe(content).replace(/ \([^()]*\)/, "")}`;
  return { path, type, content, bytes, final, question, action };
}

/**
 * Carries out a planned deletion: into a trash or the journal, or permanently if `final` is set.
 *
 * @returns `leftover`: the path of an entry that the system refused to delete.
 * @throws ToolError `conflict` if there is now more to delete than planned.
 */
export async function deletePlanned(
  context: ChangeContext,
  plan: DeletePlan,
  signal?: AbortSignal,
) {
  const { guard, record, locks } = context;
  const { path, bytes } = plan;
  const work = async () => {
    const now = await planDelete(context, path, { recursive: plan.content !== undefined, signal });
    if (
      now.type !== plan.type ||
      now.bytes > bytes ||
      entriesOf(now.content) > entriesOf(plan.content) ||
      now.final !== plan.final
    ) {
      const message = `${named(path)} changed while the deletion was being prepared; nothing was deleted.`;
      throw failure("plan_changed", message);
    }
    return record({ action: "delete", path }, async (recording) => {
      return {
        leftover: await removeRecorded(context, recording, path, {
          bytes,
          signal,
          mayBeLost: plan.final !== undefined,
        }),
      };
    });
  };
  return locks.hold([await entryPath(guard, path)], work, signal);
}

interface RemovalOptions {
  readonly bytes: number;
  readonly signal?: AbortSignal | undefined;
  /** The user was asked, or there is nothing to lose. */
  readonly mayBeLost: boolean;
}

/**
 * Removes an entry and records it: into the journal or, if it is too large for that or there is no journal, into a
 * trash.
 *
 * @returns the path of an entry that the system refused to delete, if any.
 */
export async function removeRecorded(
  { guard, journal }: ChangeContext,
  recording: Recording,
  path: string,
  { bytes, signal, mayBeLost }: RemovalOptions,
): Promise<string | undefined> {
  const effect = { kind: "removed", path } as const;
  const realPath = await entryPath(guard, path);
  const isForTrash = (await journal.whyFinal(realPath, bytes)) !== undefined;
  const place = isForTrash ? await recording.inTrash(realPath) : undefined;
  if (place !== undefined) {
    try {
      await recording.write(effect, { before: bytes });
      await withPlace(guard, path, async (source) => {
        await ordinaryType(guard, source);
        signal?.throwIfAborted();
        await whileHeld(path, () => place.take(source.entry));
      });
      return undefined;
    } catch (error) {
      // Some file systems, such as overlays, refuse to rename a directory: then it is copied into the journal.
      if (errorCode(error) !== "EXDEV") throw systemError(error, path);
      await recording.drop();
    } finally {
      await place.close();
    }
  }
  const image = recording.imageFor(bytes);
  if (image === undefined && !mayBeLost) {
    throw failure("not_removed", `${named(path)} was not removed: ${recording.final ?? ""}.`);
  }
  await recording.write(effect, { before: bytes });
  return recording.withRoom(() => removeEntry(guard, path, image, signal));
}

/** Describes what a plan removes: `1 file (3 B)`, `a link`, `a directory with 2 files (3 B)`. */
export function describePlan({ type, content, bytes }: DeletePlan): string {
  if (content !== undefined)
    return entriesOf(content) === 0
      ? "an empty directory"
      : `a directory with ${describe(content)}`;
  return type === "link" ? "a link" : `1 file (${sized(bytes)})`;
}

/**
 * A name for an entry that is about to be renamed back or removed. If this process is killed, it may be the only copy,
 * so it does not have the name of a temporary file, which would be cleaned up.
 */
export function hiddenName(): string {
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
    const { parent, entry } = place;
    if (image !== undefined && (await renamed(path, entry, image))) return undefined;
    if (image === undefined && place.stat?.isDirectory() !== true) {
      await whileHeld(path, () => unlink(entry));
      return undefined;
    }
    // Renamed to a hidden name first, so it disappears at once, however long the rest takes.
    const hidden = { parent, name: hiddenName(), path: place.path };
    await whileHeld(path, () => rename(entry, parent.entry(hidden.name)));
    const hiddenPath = join(parent.path, hidden.name);
    if (image !== undefined) {
      try {
        await guard.copyTree(hidden, imagePlace(image), { signal, skipped: () => {} });
      } catch (error) {
        await rm(image, { recursive: true, force: true }).catch(() => {});
        await guard.move(hiddenPath, place.path);
        throw error;
      }
    }
    return guard.removeTree(hidden).then(
      () => undefined,
      () => hiddenPath,
    );
  }).catch((error: unknown) => {
    throw systemError(error, path);
  });
}

function imagePlace(image: string) {
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
  options: {
    ready?(parent: GuardedDirectory, name: string): Promise<void>;
    /** Replaces the file at `path`. */
    overwrite?: boolean;
    signal?: AbortSignal | undefined;
  },
): Promise<void> {
  const hidden = hiddenName();
  const { overwrite = false } = options;
  await withPlace(guard, path, async ({ parent, stat }) => {
    if (stat !== undefined && !overwrite)
      throw failure("occupied", `${named(path)} already exists.`);
    const moved = await renamed(path, image, parent.entry(hidden));
    try {
      if (!moved) await guard.copyTree(imagePlace(image), { parent, name: hidden, path }, options);
      await options.ready?.(parent, hidden);
      await guard.move(join(parent.path, hidden), path, { overwrite });
    } catch (error) {
      if (moved) await whileHeld(path, () => rename(parent.entry(hidden), image));
      else await discard(guard, parent, hidden);
      throw error;
    }
    if (!moved) await rm(image, { recursive: true, force: true });
  }).catch((error: unknown) => {
    throw systemError(error, path);
  });
}

export async function discard(
  guard: PathGuard,
  parent: GuardedDirectory,
  name: string,
): Promise<void> {
  // It may be missing or in use; its name is unique anyway.
  await guard.removeTree({ parent, name, path: join(parent.path, name) }).catch(() => {});
}

/** Renames, or returns false if the places are on different file systems. */
async function renamed(path: string, from: string, to: string): Promise<boolean> {
  try {
    await whileHeld(path, () => rename(from, to));
    return true;
  } catch (error) {
    if (errorCode(error) === "EXDEV") return false;
    throw error;
  }
}

/**
 * The type of an entry that is to be moved or deleted.
 *
 * @throws ToolError `not_found`, and `denied` for anything other than a file, directory or link.
 */
export async function ordinaryType(guard: PathGuard, { stat, path }: GuardedPlace) {
  const type = typeOf(stat ?? (await notThere(guard, path)));
  if (type !== "other") return type;
  const message = `${named(path)} is a device, FIFO or socket; only files, directories and symlinks can be changed.`;
  throw failure("special_file", message);
}
