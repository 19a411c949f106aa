import { lstatSync, renameSync, rmSync, type Stats, utimesSync } from "node:fs";
import { link, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  copyData,
  copyTree,
  errorCode,
  type GuardedFile,
  type GuardedPlace,
  moveInto,
  ownDirectory,
  removeTree,
  systemError,
  temporaryName,
  whileHeld,
} from "@refmcp/boundary";
import { failure, named } from "../errors.ts";
import { notThere, withDirectory, withFile, withPlace } from "../open-path.ts";
import { hashOf } from "../read/bytes.ts";
import type { State } from "../store/record.ts";
import { contentOf, isStill, movedState, stateOf } from "../store/state.ts";
import { justChanged, type Making, type NewContent, type Outcome, type Step } from "./step.ts";

/** @throws ToolError `denied` for anything other than a file, directory or link. */
export function requireOrdinary(stat: Stats, path: string): void {
  if (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()) return;
  const message = `${named(path)} is a device, FIFO or socket; only files, directories and symlinks can be changed.`;
  throw failure("special_file", message);
}

/** A smaller file is copied: a second name would be an event for programs that watch it, and hide the real change. */
const LINKED_BYTES = 1024 * 1024;

/** Keeps the content of an open file whose name is about to get another one; returns the path of its image. */
async function keep({ store, recording, signal }: Making, file: GuardedFile): Promise<string> {
  const { realPath, path, stat, handle } = file;
  const { image, isSameDisk } = recording.imageFor(realPath, stat.size);
  // With other names, what is written through them would change the kept content.
  if (isSameDisk && stat.size > LINKED_BYTES && stat.nlink === 1) {
    await link(realPath, image).catch(() => undefined);
    const linked = lstatSync(image, { throwIfNoEntry: false });
    if (linked?.ino === stat.ino && linked.dev === stat.dev) return image;
    rmSync(image, { force: true });
  }
  store.requireCopyable(path, stat.size);
  await recording.copying(() => copyData(handle.fd, stat.size, image, signal));
  return image;
}

export async function createDirectory({ guard, recording }: Making, path: string) {
  recording.write({ kind: "put", path, after: { type: "empty directory" } });
  return (await guard.createDirectory(path)).length > 0 ? {} : undefined;
}

/** Removes an entry in one step: it is renamed to its image or, if that is on another disk, copied there first. */
export async function remove(
  { guard, store, recording, signal }: Making,
  path: string,
  { isOptional }: Extract<NewContent, { kind: "nothing" }>,
): Promise<Outcome | undefined> {
  return withPlace(guard, path, async (place) => {
    const { parent, name, entry } = place;
    const stat = place.stat ?? (isOptional ? undefined : await notThere(guard, path));
    if (stat === undefined) return undefined;
    requireOrdinary(stat, path);
    if (isOptional && !(await isStill(guard, path, { type: "empty directory" }))) return undefined;
    const bytes = stat.isFile() ? stat.size : stat.isDirectory() ? undefined : 0;
    const { image, isSameDisk } = recording.imageFor(join(parent.realPath, name), bytes);
    const after = { type: "nothing" } as const;
    const step = { kind: "put", path, after, image, size_before: bytes } as const;
    signal?.throwIfAborted();
    if (isSameDisk) {
      recording.write(step);
      if (await isRenamedOut(place, image)) return { replaced: bytes };
    }
    const directory = await guard.walk(parent);
    const size =
      bytes ??
      (await withDirectory(guard, path, async (root) => {
        return (await contentOf(await guard.walk(root), signal)).bytes;
      }));
    store.requireCopyable(path, size);
    const own = ownDirectory(dirname(image));
    try {
      let inventory: Awaited<ReturnType<typeof copyTree>> | undefined;
      await recording.copying(async () => {
        const to = { directory: own, name: basename(image), path };
        inventory = await copyTree({ directory, name, path }, to, { signal, onSkip: () => {} });
      });
      if (!isSameDisk) recording.write(step);
      // Renamed first, so it disappears at once, however long the rest takes.
      const temporary = temporaryName("moved");
      await whileHeld(path, () => renameSync(entry, parent.entry(temporary)));
      const leftover = await removeTree({ directory, name: temporary, path }, inventory).then(
        () => undefined,
        () => join(parent.path, temporary),
      );
      return { replaced: bytes, leftover };
    } finally {
      own.close();
    }
  });
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
  making: Making,
  path: string,
  { bytes, before }: Extract<NewContent, { kind: "bytes" }>,
): Promise<Outcome> {
  const { guard, recording, signal } = making;
  await guard.writeFile(path, bytes, {
    mode: before === undefined ? "create" : "overwrite",
    check: async (existing) => {
      const now = existing?.stat;
      const isSame =
        before?.ino === now?.ino && before?.size === now?.size && before?.mtimeMs === now?.mtimeMs;
      if (!isSame) throw justChanged(path);
      signal?.throwIfAborted();
      const image = existing && (await keep(making, existing));
      const after: State = { type: "file", size: bytes.length, hash: hashOf(bytes) };
      const sizes = { size_before: now?.size, size_after: bytes.length };
      recording.write({ kind: "put", path, after, image, ...sizes });
    },
  });
  return { replaced: before?.size };
}

/** Puts an image back: to a free path, or instead of a file. */
export async function restore(
  making: Making,
  path: string,
  { image }: Extract<NewContent, { kind: "image" }>,
): Promise<Outcome> {
  const { guard, store, recording, signal } = making;
  const own = store.openImage(image);
  const name = basename(image);
  try {
    return await withPlace(guard, path, async (place) => {
      const { parent, stat } = place;
      const oldImage = stat && (await withFile(guard, path, (file) => keep(making, file)));
      // Tools that compare times see that the content has changed.
      if (stat !== undefined) utimesSync(own.entry(name), new Date(), new Date());
      const record = (after: State) => {
        const size_after = "size" in after ? after.size : undefined;
        const sizes = { size_before: stat?.size, size_after };
        recording.write({ kind: "put", path, after, image: oldImage, ...sizes });
      };
      if (lstatSync(own.entry(name)).dev === parent.stat.dev) {
        record(await stateOf(own, name, signal));
        await moveInto(own.entry(name), place, stat);
        return {};
      }
      const target = { directory: await guard.walk(parent), name: temporaryName(), path };
      try {
        await copyTree({ directory: own, name, path }, target, { signal });
        record(await stateOf(target.directory, target.name, signal));
        await moveInto(parent.entry(target.name), place, stat);
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

/** Moves or renames a file, a directory or a link (as a link), atomically, to a free path. */
export async function moveEntry(
  { guard, recording }: Making,
  { path, to }: Extract<Step, { kind: "rename" }>,
): Promise<Outcome> {
  await guard.move(path, to, (entry) => {
    const stat = lstatSync(entry);
    const size_after = stat.isFile() ? stat.size : undefined;
    recording.write({ kind: "rename", path, to, after: movedState(entry, stat), size_after });
  });
  return {};
}
