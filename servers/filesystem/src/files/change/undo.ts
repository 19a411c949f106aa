import { fstatSync, ftruncateSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import type { GuardedDirectory } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import {
  type Change,
  type Effect,
  type State,
  type Step,
  stepsOf,
} from "../journal/change-record.ts";
import { imagePath } from "../journal/entries.ts";
import { groupImage, type Receipt, type Recording } from "../journal/recording.ts";
import { failure, named } from "../messages.ts";
import { entryPath, lockPath, orNothing, placeOf, withDirectory, withFile } from "../open-path.ts";
import { hashOf, readAt } from "../read/source.ts";
import { type ChangeContext, removeEmpty, withParents } from "./change-context.ts";
import { removeEntry, removeRecorded, restoreEntry } from "./delete.ts";
import { contentOf, entriesOf, sameState, stateAt, stateOfEntry, stateOfImage } from "./entries.ts";
import { moveRecorded } from "./move.ts";
import { appendInPlace, readBefore, replaceContent } from "./replace-content.ts";
import { undoGroup } from "./undo-group.ts";

export interface Undone {
  readonly change: Change;
  readonly done: string;
  readonly receipt: Receipt;
}

export interface UndoOptions {
  /** Of a change of many files: undoes the others if some have changed since. */
  readonly skipChanged?: boolean;
  readonly progress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Undoes a change. The undo is also recorded as a change, so undoing it redoes the first one. A change of many files is
 * checked completely first.
 *
 * @throws ToolError `conflict` if the result of the change has changed since, `denied` for a change that cannot be
 *   undone, `not_found` for an unknown id.
 */
export async function undo(
  context: ChangeContext,
  id: string,
  options: UndoOptions = {},
): Promise<Undone> {
  const { journal } = context;
  const { directory, change } = await journal.get(id);
  const images = imagePath(directory, id);
  const again = (await journal.undone()).get(id);
  try {
    if (change.steps !== undefined)
      return { change, ...(await undoGroup(context, change, images, options)) };
    const undoing = {
      context,
      change,
      step: change,
      image: change.trash ?? images,
      isSettled: false,
      isFreed: false,
      signal: options.signal,
    };
    const { done, receipt } = await undoStep(undoing);
    return { change, done, receipt };
  } catch (error) {
    if (again === undefined || !(error instanceof ToolError) || error.kind !== "conflict")
      throw error;
    throw failure("already_undone", `Change ${id} was already undone by change ${again}.`, {
      hint: `To redo it, undo ${again}.`,
      cause: error,
    });
  }
}

/** Every step of a change with its image. */
export function undoingsOf(
  context: ChangeContext,
  change: Change,
  images: string,
  signal?: AbortSignal,
) {
  return stepsOf(change).map((step, index): Undoing => {
    const image = step.trash ?? groupImage(images, step.image ?? index);
    return { context, change, step, image, isSettled: false, isFreed: false, signal };
  });
}

/** A step to undo. */
export interface Undoing {
  readonly context: ChangeContext;
  readonly change: Change;
  readonly step: Step;
  readonly image: string;
  /** A later step of the same change, which was undone before, changed this path; so its state is known. */
  readonly isSettled: boolean;
  /** The same for the path that a move left. */
  readonly isFreed: boolean;
  /** The change is being taken back, so what it created is removed without being kept. */
  readonly isTakenBack?: boolean;
  readonly signal?: AbortSignal | undefined;
}

interface Outcome {
  readonly done: string;
  readonly receipt: Receipt;
}

type Kind<Name extends Effect["kind"]> = Extract<Effect, { kind: Name }>;

/** How an effect is undone. The caller holds the locks of the paths. */
interface Undoer<Name extends Effect["kind"]> {
  /** Throws if it cannot be undone now; changes nothing. */
  check(undoing: Undoing, effect: Kind<Name>): Promise<void>;
  undo(undoing: Undoing, effect: Kind<Name>): Promise<Outcome>;
}

const UNDOERS: { [Name in Effect["kind"]]: Undoer<Name> } = {
  replaced: { check: checkReplaced, undo: undoReplaced },
  created: { check: checkCreated, undo: undoCreated },
  removed: { check: checkRemoved, undo: undoRemoved },
  moved: { check: checkMoved, undo: undoMoved },
  made: { check: checkMade, undo: undoMade },
  unmade: { check: async () => {}, undo: undoUnmade },
  cut: { check: checkCut, undo: undoCut },
};

/** Checks one step, and undoes it. @throws ToolError as `undo` does. */
export async function undoStep(undoing: Undoing): Promise<Outcome> {
  const { context, signal } = undoing;
  const { effect, undoer } = undoerOf(undoing);
  const work = async () => {
    await undoer.check(undoing, effect);
    return undoer.undo(undoing, effect);
  };
  return context.locks.hold(await keysOf(context, effect), work, signal);
}

/** Only checks whether a step can be undone now. @throws ToolError as `undo` does. */
export async function checkStep(undoing: Undoing): Promise<void> {
  const { effect, undoer } = undoerOf(undoing);
  await undoer.check(undoing, effect);
}

function undoerOf({ change, step }: Undoing) {
  const { effect } = step;
  if (effect === undefined) {
    const reason = step.final ?? "nothing was kept to restore";
    throw failure("not_undoable", `Change ${change.id} cannot be undone: ${reason}.`);
  }
  // It is the one for this kind of effect.
  return { effect, undoer: UNDOERS[effect.kind] as Undoer<Effect["kind"]> };
}

async function keysOf({ guard }: ChangeContext, effect: Effect): Promise<string[]> {
  if (effect.kind === "made" || effect.kind === "unmade") return [];
  if (effect.kind === "replaced" || effect.kind === "cut")
    return [await lockPath(guard, effect.path)];
  if (effect.kind !== "moved") return [await entryPath(guard, effect.path)];
  return [await entryPath(guard, effect.from), await entryPath(guard, effect.to)];
}

async function checkReplaced(undoing: Undoing, { path, after }: Kind<"replaced">): Promise<void> {
  const { context, change, isSettled, signal } = undoing;
  if (after.type !== "appended") await checkImage(undoing);
  if (isSettled) return;
  if (after.type === "appended") {
    const isSame = await withFile(context.guard, path, async (file) => {
      if (file.stat.size !== after.size) return false;
      return hashOf(await readAt(file, after.from, after.size - after.from)) === after.tail;
    });
    if (!isSame) throw changed(change, path);
    return;
  }
  if (!sameState(after, await stateAt(context.guard, path, after.type, signal)))
    throw changed(change, path);
}

async function undoReplaced(undoing: Undoing, effect: Kind<"replaced">): Promise<Outcome> {
  if (effect.after.type === "appended") return cutAppended(undoing, effect.path, effect.after);
  const { path } = effect;
  const { context, change, step, image, signal } = undoing;
  if (step.trash !== undefined) return restoreFromTrash(undoing, path);
  // The content was hashed piece by piece.
  const before = await readBefore(context, path, { max: 0, hash: false, signal });
  const bytes = await readFile(image).catch(imageMissing(change));
  const replacement = {
    action: "undo",
    undoes: change.id,
    path,
    bytes,
    before,
    signal,
  } as const;
  const receipt = await replaceContent(context, replacement);
  return { done: `${named(path)} was restored to its previous content.`, receipt };
}

/** Undoes an append in place, and keeps what was appended. */
async function cutAppended(
  undoing: Undoing,
  path: string,
  { from, size }: Extract<State, { type: "appended" }>,
): Promise<Outcome> {
  const { context, change } = undoing;
  return recordUndo(undoing, { path }, (recording) =>
    context.guard.updateFile(path, async (handle, now) => {
      if (now.size !== size) throw changed(change, path);
      await recording.keepBytes(await readAt({ handle }, from, size - from));
      await recording.write({ kind: "cut", path, size: from }, { before: size, after: from });
      // Nothing else in this process runs between these calls; another program may have appended since.
      if (fstatSync(handle.fd).size !== size) throw changed(change, path);
      ftruncateSync(handle.fd, from);
      return `${named(path)} was restored to its previous content.`;
    }),
  );
}

async function checkCut(undoing: Undoing, { path, size }: Kind<"cut">): Promise<void> {
  await checkImage(undoing);
  const place = await placeOf(undoing.context.guard, path);
  if (place.stat?.size !== size) throw changed(undoing.change, path);
}

async function undoCut(undoing: Undoing, { path }: Kind<"cut">): Promise<Outcome> {
  const { context, change, image } = undoing;
  const bytes = await readFile(image).catch(imageMissing(change));
  const subject = { action: "undo", path, undoes: change.id } as const;
  const { receipt } = await appendInPlace(context, subject, bytes);
  return { done: `${named(path)} was restored to its previous content.`, receipt };
}

/** Moves a large file back unchanged, and the current one into the trash. */
async function restoreFromTrash(undoing: Undoing, path: string): Promise<Outcome> {
  const { context, image, signal } = undoing;
  const { guard } = context;
  return recordUndo(undoing, { path }, async (recording) => {
    const after = await stateOfImage(image, signal);
    await withFile(guard, path, (file) => recording.keep(file, signal));
    await recording.write({ kind: "replaced", path, after });
    await restoreEntry(guard, image, path, { overwrite: true, signal });
    return `${named(path)} was restored to its previous content.`;
  });
}

async function checkCreated(
  { context: { guard }, change, isSettled, signal }: Undoing,
  { path, after }: Kind<"created">,
): Promise<void> {
  if (isSettled) return;
  if (!sameState(after, await stateAt(guard, path, after.type, signal)))
    throw changed(change, path);
}

async function undoCreated(
  undoing: Undoing,
  { path, after, parents }: Kind<"created">,
): Promise<Outcome> {
  const { context, isTakenBack, signal } = undoing;
  const { guard } = context;
  const bytes = after.type === "tree" ? after.bytes : "size" in after ? after.size : 0;
  return recordUndo(undoing, { path }, async (recording) => {
    if (isTakenBack) await removeEntry(guard, path, undefined, signal);
    else await removeRecorded(context, recording, path, { bytes, signal, mayBeLost: false });
    await removeEmpty(guard, parents);
    return `${named(path)} was removed.`;
  });
}

async function checkRemoved(undoing: Undoing, { path }: Kind<"removed">): Promise<void> {
  const { guard } = undoing.context;
  const { isSettled } = undoing;
  await checkImage(undoing);
  if (!isSettled && (await stateAt(guard, path, "moved file")) !== undefined) throw occupied(path);
}

async function undoRemoved(undoing: Undoing, { path }: Kind<"removed">): Promise<Outcome> {
  const { context, image, signal } = undoing;
  const { guard } = context;
  return recordUndo(undoing, { path }, (recording) =>
    withParents(guard, path, true, async (parents) => {
      const ready = async (parent: GuardedDirectory, name: string) => {
        const after = await stateOfEntry(guard, parent, name, signal);
        await recording.write({ kind: "created", path, after, parents });
      };
      await restoreEntry(guard, image, path, { ready, signal });
      return `${named(path)} was restored.`;
    }),
  );
}

async function checkMoved(
  undoing: Undoing,
  { from, to, after, displaced, uncovered }: Kind<"moved">,
): Promise<void> {
  const { change, isSettled, isFreed, signal } = undoing;
  const { guard } = undoing.context;
  if (!isSettled && !sameState(after, await stateAt(guard, to, after.type, signal)))
    throw changed(change, to);
  if (!isFreed && !uncovered) {
    const [old, now] = [
      await placeOf(guard, from).catch(orNothing),
      await placeOf(guard, to).catch(orNothing),
    ];
    // A change of letter case, on a file system that ignores it, has one entry under both names.
    if (old?.stat !== undefined && old.stat.ino !== now?.stat?.ino) throw occupied(from);
  }
  if (displaced) await checkImage(undoing);
}

async function undoMoved(
  undoing: Undoing,
  { from, to, displaced, uncovered }: Kind<"moved">,
): Promise<Outcome> {
  const { context, image, signal } = undoing;
  const { guard } = context;
  return recordUndo(undoing, { path: to, destination: from }, async (recording) => {
    const afterwards = () => restoreEntry(guard, image, to, { signal });
    // If the move had restored a file, that now goes back into the journal.
    const options = { overwrite: uncovered, ...(displaced ? { afterwards } : {}), signal };
    // The directory that it left may have been deleted since.
    const isLost = (await placeOf(guard, from).catch(orNothing)) === undefined;
    await withParents(guard, from, isLost, () =>
      moveRecorded(context, recording, to, from, options),
    );
    const back = displaced ? `, and the file it had replaced at ${named(to)} was restored` : "";
    return `${named(from)} was moved back${back}.`;
  });
}

async function checkMade(
  { context: { guard }, change }: Undoing,
  { directories }: Kind<"made">,
): Promise<void> {
  // In a change of many files, the directories are not empty yet, and those in use are kept.
  if (change.steps !== undefined) return;
  const innermost = directories.at(-1) ?? change.path;
  const look = (directory: GuardedDirectory) => contentOf(guard, directory);
  const content = await withDirectory(guard, innermost, look).catch(() => undefined);
  if (content === undefined || entriesOf(content) > 0) throw changed(change, innermost);
}

async function undoMade(undoing: Undoing, effect: Kind<"made">): Promise<Outcome> {
  const { context, change } = undoing;
  return recordUndo(undoing, change, async (recording) => {
    const directories = await removeEmpty(context.guard, effect.directories);
    if (directories.length > 0) await recording.write({ kind: "unmade", directories });
    else if (change.steps === undefined)
      throw changed(change, effect.directories.at(-1) ?? change.path);
    return `${directories.map(named).join(", ")}: removed.`;
  });
}

async function undoUnmade(undoing: Undoing, effect: Kind<"unmade">): Promise<Outcome> {
  const { context, change } = undoing;
  return recordUndo(undoing, change, async (recording) => {
    const directories: string[] = [];
    for (const path of effect.directories)
      directories.push(...(await context.guard.createDirectory(path)));
    if (directories.length === 0) throw changed(change, change.path);
    await recording.write({ kind: "made", directories });
    return `${directories.map(named).join(", ")}: recreated.`;
  });
}

/** @param make returns the sentence that describes the result. */
async function recordUndo(
  { context, change }: Undoing,
  { path, destination }: Pick<Change, "path" | "destination">,
  make: (recording: Recording) => Promise<string>,
): Promise<Outcome> {
  const subject = { action: "undo", path, destination, undoes: change.id } as const;
  return context.record(subject, async (recording) => ({ done: await make(recording) }));
}

function changed({ id }: Change, path: string): ToolError {
  return failure(
    "changed_since",
    `${named(path)} has changed since change ${id}; it was left unchanged.`,
  );
}

function occupied(path: string): ToolError {
  return failure("occupied", `${named(path)} already exists.`);
}

/** @throws ToolError `conflict` if what was kept is gone. */
async function checkImage({ context, change, step, image }: Undoing): Promise<void> {
  const { trash } = step;
  if (trash !== undefined && !context.journal.trash.isTrash(trash)) imageMissing(change)(undefined);
  await lstat(image).catch((cause: unknown) => {
    if (trash === undefined) return imageMissing(change)(cause);
    const message = `What change ${change.id} moved to the trash is no longer there: the trash was emptied.`;
    throw failure("image_missing", message, { cause });
  });
}

function imageMissing({ id }: Change): (cause: unknown) => never {
  return (cause) => {
    throw failure("image_missing", `The content kept for change ${id} no longer exists.`, {
      cause,
    });
  };
}
