import { lstatSync, renameSync, rmSync, utimesSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  copyTree,
  errorCode,
  type GuardedDirectory,
  type GuardedPlace,
  moveInto,
  ownDirectory,
  removeTree,
  systemError,
  temporaryName,
  whileHeld,
} from "@refmcp/boundary";
import { notThere, withDirectory, withFile, withPlace } from "../open-path.ts";
import { hashOf } from "../read/bytes.ts";
import { keep, requireOrdinary } from "./keep.ts";
import type { RecordedStep, State } from "./record.ts";
import { contentOf, isStill, stateOf } from "./state.ts";
import { justChanged, type Making, type NewContent, type Outcome } from "./step.ts";

export async function createDirectory({ guard, recording }: Making, path: string) {
  await recording.write({ kind: "put", path, after: { type: "empty directory" } });
  return (await guard.createDirectory(path)).length > 0 ? {} : undefined;
}

/** Removes an entry in one step: it is renamed to its image or, if that is on another disk, copied there first. */
export async function remove(
  { guard, recording, signal }: Making,
  path: string,
  { isOptional }: Extract<NewContent, { kind: "nothing" }>,
): Promise<Outcome | undefined> {
  return withPlace(guard, path, async (place) => {
    const { parent, name, entry } = place;
    const stat = place.stat ?? (isOptional ? undefined : await notThere(guard, path));
    if (stat === undefined) return undefined;
    requireOrdinary(stat, path);
    const directory = await guard.walk(parent);
    if (isOptional && !(await isStill(guard, path, { type: "empty directory" }))) return undefined;
    const bytes = stat.isFile() ? stat.size : stat.isDirectory() ? undefined : 0;
    const { image, isSameDisk } = recording.imageFor(join(parent.realPath, name), bytes);
    const step: RecordedStep = {
      kind: "put",
      path,
      after: { type: "nothing" },
      image,
      size_before: bytes,
    };
    signal?.throwIfAborted();
    if (isSameDisk) {
      await recording.write(step);
      if (await isRenamedOut(place, image)) return {};
    }
    const size = bytes ?? (await withDirectory(guard, path, sizeOf));
    recording.requireCopyable(path, size);
    const own = ownDirectory(dirname(image));
    try {
      let copied: Awaited<ReturnType<typeof copyTree>> | undefined;
      await recording.copying(image, async () => {
        const to = { directory: own, name: basename(image), path };
        copied = await copyTree({ directory, name, path }, to, { signal, skipped: () => {} });
      });
      if (!isSameDisk) await recording.write(step);
      // Renamed first, so it disappears at once, however long the rest takes.
      const hidden = temporaryName("moved");
      await whileHeld(path, () => renameSync(entry, parent.entry(hidden)));
      const leftover = await removeTree({ directory, name: hidden, path }, copied).then(
        () => undefined,
        () => join(parent.path, hidden),
      );
      return { leftover };
    } finally {
      own.close();
    }
  });

  async function sizeOf(root: GuardedDirectory): Promise<number> {
    return (await contentOf(await guard.walk(root), path, signal)).bytes;
  }
}

/** False if the two are on different file systems; some, such as overlays, also refuse to rename a directory. */
async function isRenamedOut(
  { parent, entry, path }: GuardedPlace,
  image: string,
): Promise<boolean> {
  try {
    await parent.verify();
    await whileHeld(path, () => rename(entry, image));
  } catch (error) {
    if (errorCode(error) === "EXDEV") return false;
    throw systemError(error, path);
  }
  await parent.verify().catch(async (error: unknown) => {
    await rename(image, entry);
    throw error;
  });
  return true;
}

/**
 * Replaces a file's content atomically. If the file has several hard links, only this name gets the new content, since
 * the others may be outside the allowed directories (in a package store).
 */
export async function writeBytes(
  { guard, recording, signal }: Making,
  path: string,
  { bytes, before }: Extract<NewContent, { kind: "bytes" }>,
): Promise<Outcome> {
  await guard.writeFile(path, bytes, {
    mode: before === undefined ? "create" : "overwrite",
    check: async (existing) => {
      const now = existing?.stat;
      const isSame =
        before?.ino === now?.ino && before?.size === now?.size && before?.mtimeMs === now?.mtimeMs;
      if (!isSame) throw justChanged(path);
      signal?.throwIfAborted();
      const image = existing && (await keep({ recording, signal }, existing));
      const hash = bytes instanceof Uint8Array ? hashOf(bytes) : bytes.hash;
      const after: State = { type: "file", size: bytes.length, hash };
      const sizes = { size_before: now?.size, size_after: bytes.length };
      await recording.write({ kind: "put", path, after, image, ...sizes });
    },
  });
  return { replaced: before?.size };
}

/** Puts an image back: to a free path, or instead of a file. */
export async function restore(
  { guard, store, recording, signal }: Making,
  path: string,
  { image }: Extract<NewContent, { kind: "image" }>,
): Promise<Outcome> {
  const own = store.openImage(image);
  const name = basename(image);
  try {
    return await withPlace(guard, path, async (place) => {
      const { parent, stat } = place;
      const kept =
        stat === undefined
          ? undefined
          : await withFile(guard, path, (file) => keep({ recording, signal }, file));
      // Tools that compare times see that the content has changed.
      if (stat !== undefined) utimesSync(own.entry(name), new Date(), new Date());
      const step = async (after: State) =>
        recording.write({
          kind: "put",
          path,
          after,
          image: kept,
          size_before: stat?.size,
          size_after: "size" in after ? after.size : undefined,
        });
      if (lstatSync(own.entry(name)).dev === parent.stat.dev) {
        await step(await stateOf(own, name, signal));
        await moveInto(own.entry(name), place, stat);
        return {};
      }
      const target = { directory: await guard.walk(parent), name: temporaryName(), path };
      try {
        await copyTree({ directory: own, name, path }, target, { signal });
        await step(await stateOf(target.directory, target.name, signal));
        await guard.move(join(parent.path, target.name), path, { overwrite: stat !== undefined });
      } finally {
        // It is gone if all went well.
        await removeTree(target).catch(() => {});
      }
      rmSync(own.entry(name), { recursive: true, force: true });
      return {};
    });
  } catch (error) {
    throw systemError(error, path);
  } finally {
    own.close();
  }
}
