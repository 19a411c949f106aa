import { lstat, readFile } from "node:fs/promises";
import type { GuardedDirectory } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Change, Effect } from "../journal/change-record.ts";
import { imagePath } from "../journal/entries.ts";
import type { Receipt, Recording } from "../journal/journal.ts";
import { failure, named } from "../messages.ts";
import { entryPath, lockPath, withDirectory } from "../open-path.ts";
import { type ChangeContext, removeEmpty, withParents } from "./change-context.ts";
import { removeEntry, restoreEntry } from "./delete.ts";
import { contentOf, entriesOf, sameState, stateAt, stateOfEntry } from "./entries.ts";
import { changeMode } from "./executable.ts";
import { moveRecorded } from "./move.ts";
import { readBefore, replaceContent } from "./replace-content.ts";

export interface Undone {
  readonly change: Change;
  readonly done: string;
  readonly receipt: Receipt;
}

/**
 * Undoes a change. The undo is also recorded as a change, so undoing it redoes the first one.
 *
 * @throws ToolError `conflict` if the result of the change has changed since, `denied` for a change that cannot be
 *   undone, `not_found` for an unknown id.
 */
export async function undo(context: ChangeContext, id: string, signal?: AbortSignal): Promise<Undone> {
  const { guard, journal, locks } = context;
  const { directory, change } = await journal.get(id);
  const { effect } = change;
  if (effect === undefined) {
    const reason = change.final ?? "nothing was kept to restore";
    throw failure("not_undoable", `Change ${id} cannot be undone: ${reason}.`);
  }
  const again = (await journal.undone()).get(id);
  try {
    const undoing = { context, change, image: imagePath(directory, id), signal };
    const keys =
      effect.kind === "made" || effect.kind === "unmade"
        ? []
        : effect.kind === "replaced"
          ? [await lockPath(guard, effect.path)]
          : effect.kind === "moved"
            ? [await entryPath(guard, effect.from), await entryPath(guard, effect.to)]
            : [await entryPath(guard, effect.path)];
    // It is the one for this kind of effect.
    const undoer = UNDO[effect.kind] as (undoing: Undoing, effect: Effect) => Promise<Undone>;
    return await locks.hold(keys, () => undoer(undoing, effect), signal);
  } catch (error) {
    if (again === undefined || !(error instanceof ToolError) || error.kind !== "conflict") throw error;
    throw failure("already_undone", `Change ${id} was already undone by change ${again}.`, {
      hint: `To redo it, undo ${again}.`,
      cause: error,
    });
  }
}

interface Undoing {
  readonly context: ChangeContext;
  readonly change: Change;
  readonly image: string;
  readonly signal: AbortSignal | undefined;
}

type Kind<Name extends Effect["kind"]> = Extract<Effect, { kind: Name }>;

/** The caller holds the locks of the paths. */
const UNDO: { [Name in Effect["kind"]]: (undoing: Undoing, effect: Kind<Name>) => Promise<Undone> } = {
  replaced: undoReplaced,
  created: undoCreated,
  removed: undoRemoved,
  moved: undoMoved,
  mode: undoMode,
  made: undoMade,
  unmade: undoUnmade,
};

async function undoReplaced(
  { context, change, image, signal }: Undoing,
  { path, after, kept }: Kind<"replaced">,
): Promise<Undone> {
  // Only an appended file's bytes are needed; any other content is hashed piece by piece.
  const max = kept === undefined ? 0 : context.journal.maxImageBytes;
  const now = await readBefore(context, path, { max, hash: true, signal });
  if (after.type !== "file" || now?.hash !== after.hash) throw changed(change, path);
  const bytes =
    kept === undefined ? await readFile(image).catch(imageMissing(change)) : now.bytes?.subarray(0, kept);
  if (bytes === undefined) throw changed(change, path);
  const replacement = { action: "undo", undoes: change.id, path, bytes, before: now, signal } as const;
  const receipt = await replaceContent(context, replacement);
  return { change, done: `${named(path)} was restored to its previous content.`, receipt };
}

async function undoCreated(
  { context, change, signal }: Undoing,
  { path, after, parents }: Kind<"created">,
): Promise<Undone> {
  const { guard } = context;
  if (!sameState(after, await stateAt(guard, path, after.type, signal))) throw changed(change, path);
  const bytes = after.type === "file" ? after.size : after.type === "tree" ? after.bytes : 0;
  return recordUndo(context, change, { path }, async (recording) => {
    const image = recording.imageFor(bytes);
    if (image === undefined) {
      throw failure("not_removed", `${named(path)} was not removed: ${recording.final ?? ""}.`);
    }
    await recording.write({ kind: "removed", path }, { before: bytes });
    await recording.withRoom(() => removeEntry(guard, path, image, signal));
    await removeEmpty(guard, parents);
    return `${named(path)} was removed.`;
  });
}

async function undoRemoved(
  { context, change, image, signal }: Undoing,
  { path }: Kind<"removed">,
): Promise<Undone> {
  const { guard } = context;
  await lstat(image).catch(imageMissing(change));
  return recordUndo(context, change, { path }, (recording) =>
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

async function undoMoved(
  { context, change, image, signal }: Undoing,
  { from, to, after, displaced, uncovered }: Kind<"moved">,
): Promise<Undone> {
  const { guard } = context;
  if (!sameState(after, await stateAt(guard, to, after.type, signal))) throw changed(change, to);
  if (displaced) await lstat(image).catch(imageMissing(change));
  return recordUndo(context, change, { path: to, destination: from }, async (recording) => {
    const afterwards = () => restoreEntry(guard, image, to, { signal });
    // If the move had restored a file, that now goes back into the journal.
    const options = { overwrite: uncovered, ...(displaced ? { afterwards } : {}), signal };
    await moveRecorded(context, recording, to, from, options);
    const back = displaced ? `, and the file it had replaced at ${named(to)} was restored` : "";
    return `${named(from)} was moved back${back}.`;
  });
}

async function undoMode(
  { context, change }: Undoing,
  { path, before, after }: Kind<"mode">,
): Promise<Undone> {
  return recordUndo(context, change, { path }, async (recording) => {
    await recording.write({ kind: "mode", path, before: after, after: before });
    if (!(await changeMode(context, path, after, before))) throw changed(change, path);
    return `${named(path)} has its previous permissions.`;
  });
}

async function undoMade({ context, change }: Undoing, effect: Kind<"made">): Promise<Undone> {
  const { guard } = context;
  const innermost = effect.directories.at(-1) ?? change.path;
  const look = (directory: GuardedDirectory) => contentOf(guard, directory);
  const content = await withDirectory(guard, innermost, look).catch(() => undefined);
  if (content === undefined || entriesOf(content) > 0) throw changed(change, innermost);
  return recordUndo(context, change, change, async (recording) => {
    const directories = await removeEmpty(guard, effect.directories);
    if (directories.length === 0) throw changed(change, innermost);
    await recording.write({ kind: "unmade", directories });
    return `${directories.map(named).join(", ")}: removed.`;
  });
}

async function undoUnmade({ context, change }: Undoing, effect: Kind<"unmade">): Promise<Undone> {
  return recordUndo(context, change, change, async (recording) => {
    const directories = await context.guard.createDirectory(effect.directories.at(-1) ?? change.path);
    if (directories.length === 0) throw changed(change, change.path);
    await recording.write({ kind: "made", directories });
    return `${directories.map(named).join(", ")}: recreated.`;
  });
}

/** @param make returns the sentence that describes the result. */
function recordUndo(
  { journal }: ChangeContext,
  change: Change,
  { path, destination }: Pick<Change, "path" | "destination">,
  make: (recording: Recording) => Promise<string>,
): Promise<Undone> {
  const subject = { action: "undo", path, destination, undoes: change.id } as const;
  return journal.record(subject, async (recording) => ({ change, done: await make(recording) }));
}

function changed({ id }: Change, path: string): ToolError {
  return failure("changed_since", `${named(path)} has changed since change ${id}; it was left unchanged.`);
}

function imageMissing({ id }: Change): (cause: unknown) => never {
  return (cause) => {
    throw failure("image_missing", `The content kept for change ${id} no longer exists.`, { cause });
  };
}
