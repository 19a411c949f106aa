import {
  fstatSync,
  ftruncateSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { link, lstat, readlink, rename, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  copyData,
  copyTree,
  errorCode,
  type GuardedDirectory,
  type GuardedFile,
  type GuardedPlace,
  moveInto,
  ownDirectory,
  removeTree,
  systemError,
  temporaryName,
  whileHeld,
  within,
} from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import {
  directoryAt,
  entryPath,
  lockPath,
  notThere,
  placeOf,
  withFile,
  withPlace,
} from "../open-path.ts";
import { hashOf, readAt } from "../read/bytes.ts";
import type { RecordedStep, State, Subject } from "./record.ts";
import { type Content, contentOf, isStill, movedState, stateOf } from "./state.ts";
import type { Receipt, Recording } from "./store.ts";
import type { Streamed } from "./streamed.ts";
import { takeBack } from "./undo.ts";

/** How many files are changed between two progress reports; of a directory that is copied, how many entries. */
const PROGRESS_EVERY = 25;
const COPY_PROGRESS_EVERY = 100;
/**
 * A file up to this size is copied before it is replaced. A second name would be an event for programs that watch the
 * file, which then ignore the real change right after it (chokidar for 5 ms).
 */
const SMALL_BYTES = 1024 * 1024;

/** What a path gets. */
export type NewContent =
  | {
      readonly kind: "nothing" /** Leaves a directory that is in use. */;
      readonly isOptional?: boolean;
    }
  | { readonly kind: "directory" }
  /** `before`: the file that was read, which must be unchanged. */
  | {
      readonly kind: "bytes";
      readonly bytes: Uint8Array | Streamed;
      readonly before: Stats | undefined;
    }
  | { readonly kind: "copy"; readonly from: string; readonly overwrite: boolean }
  /** What the store kept. */
  | { readonly kind: "image"; readonly image: string };

/** A step of a plan. */
export type Step = (
  | { readonly kind: "put"; readonly path: string; readonly content: NewContent }
  | {
      readonly kind: "rename";
      readonly path: string;
      readonly to: string;
      readonly overwrite: boolean;
    }
  /** Adds bytes at the end, in place. */
  | {
      readonly kind: "append";
      readonly path: string;
      readonly bytes: Uint8Array | { readonly image: string };
      readonly before?: Stats | undefined;
    }
  /** Removes the bytes from `from` to `size`, in place. */
  | { readonly kind: "cut"; readonly path: string; readonly from: number; readonly size: number }
) & {
  /** Of an undo: what a path must still be, and the change that made it so. */
  readonly requires?:
    | { readonly path: string; readonly state: State; readonly change: string }
    | undefined;
};

/** What a step did, for the answer. */
export interface Outcome {
  /** What was copied. */
  readonly content?: Omit<Content, "newest_ms">;
  /** Links and special files that were not copied, below the source. */
  readonly skipped?: readonly string[];
  /** The size of the file that was replaced. */
  readonly replaced?: number | undefined;
  /** Where the rest of something is that the system refused to delete. */
  readonly leftover?: string | undefined;
}

export interface RunOptions {
  /** Called from time to time with what is done: files or, of a single directory, its entries. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether the caller holds the locks of the paths. */
  readonly isLocked?: boolean;
}

/**
 * Carries out steps as one change, with one id: all of them, or nothing if one fails or the call is cancelled.
 *
 * @throws what the step that failed throws; ToolError `conflict` if what was made could not be taken back
 */
export async function run(
  files: Files,
  subject: Subject,
  steps: readonly Step[],
  options: RunOptions = {},
): Promise<{ receipt: Receipt | undefined; outcomes: Outcome[] }> {
  const { signal, progress } = options;
  const recording = await files.store.begin(subject);
  const total = steps.filter((step) => !isDirectoryStep(step)).length;
  const outcomes: Outcome[] = [];
  let done = 0;
  try {
    for (const step of steps) {
      signal?.throwIfAborted();
      outcomes.push(await make(files, recording, step, { ...options, isOnly: total === 1 }));
      if (!isDirectoryStep(step) && ++done % PROGRESS_EVERY === 0) progress?.(done, total);
    }
    return { receipt: await recording.end(), outcomes };
  } catch (error) {
    await takeBack(files, recording).catch(async (cause: unknown) => {
      await recording.end();
      const [first, second] = [error, cause].map((one) =>
        one instanceof ToolError ? one.message : "an error",
      );
      const message = `${first} Not everything could be taken back: ${second} What remains is change ${recording.id}.`;
      throw failure("half_made", message, { cause });
    });
    throw error;
  }
}

export const isDirectoryStep = (step: Step): boolean =>
  step.kind === "put" &&
  (step.content.kind === "directory" ||
    (step.content.kind === "nothing" && step.content.isOptional === true));

/** Makes one step and records it; nothing is changed or recorded if it fails. */
export async function make(
  files: Files,
  recording: Recording,
  step: Step,
  options: RunOptions & { isOnly?: boolean } = {},
): Promise<Outcome> {
  const { requires } = step;
  let outcome: Outcome = {};
  const work = () =>
    recording.attempt(async () => {
      if (requires && !(await isStill(files.guard, requires.path, requires.state, options.signal)))
        throw changedSince(requires.path, requires.change);
      const made = await makeNow(files, recording, step, options);
      if (made !== undefined) outcome = made;
      return made !== undefined;
    });
  if (options.isLocked) await work();
  else await files.locks.hold(await keysOf(files, step), work, options.signal);
  return outcome;
}

export function changedSince(path: string, change: string): ToolError {
  return failure(
    "changed_since",
    `${named(path)} has changed since change ${change}; it was left unchanged.`,
  );
}

/** The real paths to lock for a step. */
async function keysOf({ guard }: Files, step: Step): Promise<string[]> {
  if (step.kind === "rename")
    return [await entryPath(guard, step.path), await entryPath(guard, step.to)];
  const isWritten = step.kind !== "put" || step.content.kind === "bytes";
  return [isWritten ? await lockPath(guard, step.path) : await entryPath(guard, step.path)];
}

/** Undefined if there was nothing to do. */
async function makeNow(
  files: Files,
  recording: Recording,
  step: Step,
  options: RunOptions & { isOnly?: boolean },
): Promise<Outcome | undefined> {
  const { path } = step;
  const { signal } = options;
  if (step.kind === "rename") return moveEntry(files, recording, step, signal);
  if (step.kind === "append") return append(files, recording, step);
  if (step.kind === "cut") return cut(files, recording, step);
  const { content } = step;
  if (content.kind === "nothing") return remove(files, recording, path, content, signal);
  if (content.kind === "directory") return createDirectory(files, recording, path);
  if (content.kind === "bytes") return writeBytes(files, recording, path, content, signal);
  if (content.kind === "image") return restore(files, recording, path, content.image, signal);
  return copyTo(files, recording, path, content, options);
}

async function createDirectory({ guard }: Files, recording: Recording, path: string) {
  await recording.write({ kind: "put", path, after: { type: "empty directory" } });
  return (await guard.createDirectory(path)).length > 0 ? {} : undefined;
}

/** Removes an entry in one step: it is renamed to its image or, if that is on another disk, copied there first. */
async function remove(
  { guard }: Files,
  recording: Recording,
  path: string,
  { isOptional }: { isOptional?: boolean },
  signal: AbortSignal | undefined,
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
    const size = bytes ?? (await sizeOf(await guard.openDirectory(path)));
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
    return contentOf(await guard.walk(root), path, signal)
      .then(({ bytes }) => bytes)
      .finally(() => root.close());
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

/** @throws ToolError `denied` for anything other than a file, directory or link. */
export function requireOrdinary(stat: Stats, path: string): void {
  if (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink()) return;
  const message = `${named(path)} is a device, FIFO or socket; only files, directories and symlinks can be changed.`;
  throw failure("special_file", message);
}

/**
 * Replaces a file's content atomically. If the file has several hard links, only this name gets the new content, since
 * the others may be outside the allowed directories (in a package store).
 */
async function writeBytes(
  { guard }: Files,
  recording: Recording,
  path: string,
  { bytes, before }: Extract<NewContent, { kind: "bytes" }>,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  await guard.writeFile(path, bytes, {
    mode: before === undefined ? "create" : "overwrite",
    check: async (existing) => {
      const now = existing?.stat;
      const isSame =
        before?.ino === now?.ino && before?.size === now?.size && before?.mtimeMs === now?.mtimeMs;
      if (!isSame) throw justChanged(path);
      signal?.throwIfAborted();
      const image = existing && (await keep(recording, existing, signal));
      const hash = bytes instanceof Uint8Array ? hashOf(bytes) : bytes.hash;
      const after: State = { type: "file", size: bytes.length, hash };
      const sizes = { size_before: now?.size, size_after: bytes.length };
      await recording.write({ kind: "put", path, after, image, ...sizes });
    },
  });
  return { replaced: before?.size };
}

function justChanged(path: string): ToolError {
  return failure("just_changed", `${named(path)} was just changed by another program.`);
}

/**
 * Keeps the content of an open file whose name is about to get another file.
 *
 * @returns the path of its image
 */
async function keep(
  recording: Recording,
  file: GuardedFile,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { realPath, path, stat, handle } = file;
  const { image, isSameDisk } = recording.imageFor(realPath, stat.size);
  const isLarge = stat.size > SMALL_BYTES;
  if (isSameDisk && isLarge && (await isLinked(file, image))) return image;
  recording.requireCopyable(path, stat.size);
  await recording.copying(image, () => copyData(handle.fd, stat.size, image, signal));
  return image;
}

/**
 * Gives an open file a second name, so that its content remains when the first one gets another file. Not if it has
 * other names already: what is written through them would change the kept content.
 */
async function isLinked({ realPath, handle, stat }: GuardedFile, image: string): Promise<boolean> {
  if (stat.nlink > 1) return false;
  try {
    await link(realPath, image);
  } catch {
    return false;
  }
  const [one, other] = [await lstat(image, { bigint: true }), await handle.stat({ bigint: true })];
  if (one.dev === other.dev && one.ino === other.ino) return true;
  await unlink(image);
  return false;
}

/**
 * Keeps what is at the destination of a move or a copy.
 *
 * @throws ToolError `conflict` if it may not be replaced: without `overwrite`, a directory, or a link that is refused
 */
async function keepDisplaced(
  { guard }: Files,
  recording: Recording,
  { stat, path, entry, parent, name }: GuardedPlace,
  options: { overwrite: boolean; links: "keep" | "refuse"; signal: AbortSignal | undefined },
): Promise<{ image?: string; size_before?: number }> {
  if (stat === undefined) return {};
  if (stat.isDirectory())
    throw failure("directory_exists", `${named(path)} already exists and is a directory.`);
  if (!options.overwrite) throw failure("exists", `${named(path)} already exists.`);
  if (!stat.isSymbolicLink()) {
    const image = await withFile(guard, path, (file) => keep(recording, file, options.signal));
    return { image, size_before: stat.size };
  }
  if (options.links === "refuse")
    throw failure("link_exists", `${named(path)} already exists and is a symlink.`);
  const { image } = recording.imageFor(join(parent.realPath, name), 0);
  await symlink(await readlink(entry), image);
  return { image, size_before: 0 };
}

/** Moves or renames a file, a directory or a link (as a link), atomically. */
async function moveEntry(
  files: Files,
  recording: Recording,
  { path, to, overwrite }: Extract<Step, { kind: "rename" }>,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const { guard } = files;
  const source = await placeOf(guard, path, { write: true });
  const stat = source.stat ?? (await notThere(guard, path));
  requireOrdinary(stat, path);
  const { after, kept } = await withPlace(guard, path, (place) =>
    withPlace(guard, to, async (target) => {
      // For example "readme" to "README", if the file system ignores case.
      const isItself =
        target.stat?.ino === stat.ino &&
        target.stat.dev === stat.dev &&
        path.toLowerCase() === to.toLowerCase();
      const kept = isItself
        ? {}
        : await keepDisplaced(files, recording, target, { overwrite, links: "keep", signal });
      return { after: movedState(place.entry, place.stat ?? stat), kept };
    }),
  );
  const size_after = stat.isFile() ? stat.size : undefined;
  await recording.write({ kind: "rename", path, to, after, ...kept, size_after });
  await guard.move(path, to, { overwrite });
  return { replaced: kept.size_before };
}

/**
 * Copies a file, or a directory and everything below it. The copy gets its name when it is complete, so nobody sees an
 * incomplete one. A link at `from` is followed; links below it are copied as links if they lead inside.
 */
async function copyTo(
  files: Files,
  recording: Recording,
  to: string,
  { from, overwrite }: Extract<NewContent, { kind: "copy" }>,
  { signal, progress, isOnly }: RunOptions & { isOnly?: boolean },
): Promise<Outcome> {
  const { guard } = files;
  const hidden = temporaryName();
  const hiddenPath = join(dirname(to), hidden);
  const source = (await directoryAt(guard, from)) ?? (await guard.openFile(from));
  try {
    return await withPlace(guard, to, async (place) => {
      const directory = await guard.walk(place.parent);
      const target = { directory, name: hidden, path: to };
      try {
        const isFile = "handle" in source;
        const options = { overwrite: overwrite && isFile, links: "refuse", signal } as const;
        const kept = await keepDisplaced(files, recording, place, options);
        const outcome = isFile
          ? await copyOneFile(source, place.parent.entry(hidden))
          : await copyDirectory(source, place.parent, target);
        const after = await stateOf(directory, hidden, signal);
        signal?.throwIfAborted();
        const size_after = outcome.content.bytes;
        await recording.write({ kind: "put", path: to, after, ...kept, size_after });
        await guard.move(hiddenPath, to, { overwrite });
        return { ...outcome, replaced: kept.size_before };
      } finally {
        // It is gone if all went well.
        await removeTree(target).catch(() => {});
      }
    });
  } catch (error) {
    throw systemError(error, to);
  } finally {
    await ("handle" in source ? source.handle.close() : source.close());
  }

  async function copyOneFile({ handle, stat }: GuardedFile, entry: string) {
    await copyData(handle.fd, stat.size, entry, signal);
    return { content: { files: 1, directories: 0, links: 0, others: 0, bytes: stat.size } };
  }

  async function copyDirectory(
    source: GuardedDirectory,
    parent: GuardedDirectory,
    target: { directory: Awaited<ReturnType<typeof guard.walk>>; name: string; path: string },
  ) {
    if (within(parent.realPath, source.realPath))
      throw failure("into_itself", `${named(from)} cannot be copied into itself (${named(to)}).`);
    const directory = await guard.walk(source);
    const content = await contentOf(directory, from, signal);
    const total = content.files + content.directories + content.links;
    const special: string[] = [];
    const copied = await copyTree({ directory, name: ".", path: from }, target, {
      signal,
      attributes: false,
      skipped: (key) => special.push(key.slice(1)),
      progress(entries) {
        const isDue = entries % COPY_PROGRESS_EVERY === 0 || entries === total;
        if (isOnly && isDue) progress?.(entries, total);
      },
    });
    const links = [...copied].flatMap(([key, stat]) =>
      stat.isSymbolicLink() ? [key.slice(1)] : [],
    );
    const outside = await dropOutsideLinks(links);
    const now = { ...content, others: 0, links: links.length - outside.length };
    return { content: now, skipped: [...outside, ...special].sort() };
  }

  /** Removes copied links that are broken or lead outside, from the original or from the copy. */
  async function dropOutsideLinks(links: readonly string[]): Promise<string[]> {
    const dropped: string[] = [];
    for (const path of links) {
      const isInside = async (base: string) => (await guard.readLink(join(base, path))).inside;
      if ((await isInside(from)) && (await isInside(hiddenPath))) continue;
      await withPlace(guard, join(hiddenPath, path), ({ entry }) => unlink(entry));
      dropped.push(path);
    }
    return dropped;
  }
}

/** Puts an image back: to a free path, or instead of a file. */
async function restore(
  { guard, store }: Files,
  recording: Recording,
  path: string,
  image: string,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const own = store.openImage(image);
  const name = basename(image);
  try {
    return await withPlace(guard, path, async (place) => {
      const { parent, stat } = place;
      const kept =
        stat === undefined
          ? undefined
          : await withFile(guard, path, (file) => keep(recording, file, signal));
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

/** Appends in place, as `>>` does: other programs may have the file open, and add lines at the same time. */
async function append(
  { guard, store }: Files,
  recording: Recording,
  { path, bytes: given, before }: Extract<Step, { kind: "append" }>,
): Promise<Outcome> {
  const bytes = given instanceof Uint8Array ? given : await bytesOf(given.image);
  return guard.updateFile(path, async (handle, now) => {
    const isSame =
      before === undefined || (before.size === now.size && before.mtimeMs === now.mtimeMs);
    if (!isSame) throw justChanged(path);
    const [from, size] = [now.size, now.size + bytes.length];
    const sizes = { size_before: from, size_after: size };
    await recording.write({ kind: "append", path, from, digest: hashOf(bytes), ...sizes });
    let written = 0;
    try {
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
      await handle.sync();
    } catch (error) {
      // Unless another program has appended in the meantime.
      if ((await handle.stat()).size === from + written) await handle.truncate(from);
      throw error;
    }
    return { replaced: from };
  });

  async function bytesOf(image: string): Promise<Uint8Array> {
    const own = store.openImage(image);
    try {
      return readFileSync(own.entry(basename(image)));
    } finally {
      own.close();
    }
  }
}

/** Undoes an append in place, and keeps what was appended. */
async function cut(
  { guard }: Files,
  recording: Recording,
  { path, from, size }: Extract<Step, { kind: "cut" }>,
): Promise<Outcome> {
  return guard.updateFile(path, async (handle, now) => {
    if (now.size !== size) throw justChanged(path);
    const bytes = await readAt({ handle }, from, size - from);
    const { image } = recording.imageFor(await lockPath(guard, path), 0);
    await recording.copying(image, () => writeFileSync(image, bytes, { mode: 0o600 }));
    const sizes = { size_before: size, size_after: from };
    await recording.write({ kind: "cut", path, size: from, image, ...sizes });
    // Nothing else in this process runs between these calls; another program may have appended since.
    if (fstatSync(handle.fd).size !== size) throw justChanged(path);
    ftruncateSync(handle.fd, from);
    return {};
  });
}
