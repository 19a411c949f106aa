import { lstat, readFile } from "node:fs/promises";
import type { GuardedDirectory, PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Change, Effect } from "../journal/change-record.ts";
import { type Receipt, type Recording, record } from "../journal/recording.ts";
import { withDirectory } from "../open-path.ts";
import { named } from "../wording.ts";
import { type ChangeContext, entryPath, lockPath, removeEmpty, withParents } from "./change-context.ts";
import { contentOf, entriesOf } from "./entries-below.ts";
import { sameState, stateAt, stateOfEntry } from "./entry-state.ts";
import { moveRecorded } from "./move.ts";
import { removeEntry, restoreEntry } from "./remove-entry.ts";
import { readBefore, replaceContent } from "./replace-content.ts";

export interface Undone {
  /** The change that was undone. */
  readonly change: Change;
  /** One sentence that describes the result. */
  readonly done: string;
  readonly receipt: Receipt;
}

type Kind<Name extends Effect["kind"]> = Extract<Effect, { kind: Name }>;

/**
 * Undoes a change. The undo is also recorded as a change, so undoing it redoes the first one.
 *
 * @throws ToolError `conflict` if the result of the change has changed since, `denied` for a change that cannot be
 *   undone, `not_found` for an unknown id.
 */
export async function undo(context: ChangeContext, id: string, signal?: AbortSignal): Promise<Undone> {
  const { directory, change } = await context.journal.get(id);
  const { effect } = change;
  if (effect === undefined) {
    throw new ToolError(
      "denied",
      `Change ${id} cannot be undone: ${change.final ?? "nothing was kept to restore"}.`,
      { hint: "list_changes shows which changes can be undone." },
    );
  }
  const again = (await context.journal.undone()).get(id);
  try {
    const image = context.journal.imagePath(directory, id);
    const keys = await lockKeys(context.guard, effect);
    const undoing = { context, change, image, signal };
    // With the paths locked.
    return await context.locks.hold(keys, () => undoLocked(undoing, effect), signal);
  } catch (error) {
    if (again === undefined || !(error instanceof ToolError) || error.kind !== "conflict") throw error;
    throw new ToolError("conflict", `Change ${id} was already undone by change ${again}.`, {
      hint: `To redo it, undo ${again}.`,
      cause: error,
    });
  }
}

interface Undoing {
  readonly context: ChangeContext;
  readonly change: Change;
  /** Where the image of the change is stored. */
  readonly image: string;
  readonly signal: AbortSignal | undefined;
}

async function lockKeys(guard: PathGuard, effect: Effect): Promise<string[]> {
  if (effect.kind === "made" || effect.kind === "unmade") return [];
  if (effect.kind === "replaced") return [await lockPath(guard, effect.path)];
  const paths = effect.kind === "moved" ? [effect.from, effect.to] : [effect.path];
  return Promise.all(paths.map((path) => entryPath(guard, path)));
}

async function undoLocked(undoing: Undoing, effect: Effect): Promise<Undone> {
  switch (effect.kind) {
    case "replaced":
      return undoReplaced(undoing, effect);
    case "created":
      return undoCreated(undoing, effect);
    case "removed":
      return undoRemoved(undoing, effect);
    case "moved":
      return undoMoved(undoing, effect);
    case "made":
      return undoMade(undoing, effect);
    case "unmade":
      return undoUnmade(undoing, effect);
  }
}

async function undoReplaced(
  { context, change, image, signal }: Undoing,
  effect: Kind<"replaced">,
): Promise<Undone> {
  const { path, after, kept } = effect;
  // Only an appended file's bytes are needed; any other content is hashed piece by piece.
  const max = kept === undefined ? 0 : context.journal.maxImageBytes;
  const now = await readBefore(context, path, { max, hash: true, signal });
  if (after.type !== "file" || now === undefined || now.hash !== after.hash) throw changed(change, path);
  const bytes =
    kept === undefined ? await readFile(image).catch(imageGone(change)) : now.bytes?.subarray(0, kept);
  if (bytes === undefined) throw changed(change, path);
  const undoes = { action: "undo", undoes: change.id } as const;
  const replacement = { ...undoes, path, bytes, before: now, createParents: false, signal };
  const receipt = await replaceContent(context, replacement);
  return { change, done: `${named(path)} was restored to its previous content.`, receipt };
}

async function undoCreated({ context, change, signal }: Undoing, effect: Kind<"created">): Promise<Undone> {
  const { path, after, parents } = effect;
  const now = await stateAt(context.guard, path, after.type, signal);
  if (!sameState(after, now)) throw changed(change, path);
  const bytes = after.type === "file" ? after.size : after.type === "tree" ? after.bytes : 0;
  return recordUndo(context, change, { path }, async (recording) => {
    const image = recording.imageFor(bytes);
    if (image === undefined)
      throw new ToolError("denied", `${named(path)} was not removed: ${recording.final ?? ""}.`, {
        hint: "Use delete_file, which asks the user first.",
      });
    await recording.write({ kind: "removed", path }, { before: bytes });
    await recording.withRoom(() => removeEntry(context.guard, path, image, signal));
    await removeEmpty(context.guard, parents);
    return `${named(path)} was removed.`;
  });
}

async function undoRemoved(
  { context, change, image, signal }: Undoing,
  effect: Kind<"removed">,
): Promise<Undone> {
  const { path } = effect;
  await lstat(image).catch(imageGone(change));
  return recordUndo(context, change, { path }, (recording) =>
    withParents(context.guard, path, true, async (parents) => {
      const ready = async (parent: GuardedDirectory, name: string) => {
        const after = await stateOfEntry(context.guard, parent, name, signal);
        await recording.write({ kind: "created", path, after, parents });
      };
      await restoreEntry(context.guard, image, path, { ready, signal });
      return `${named(path)} was restored.`;
    }),
  );
}

async function undoMoved(
  { context, change, image, signal }: Undoing,
  effect: Kind<"moved">,
): Promise<Undone> {
  const { from, to, after, displaced, uncovered } = effect;
  if (!sameState(after, await stateAt(context.guard, to, after.type, signal))) throw changed(change, to);
  if (displaced) await lstat(image).catch(imageGone(change));
  return recordUndo(context, change, { path: to, destination: from }, async (recording) => {
    await moveRecorded(context, recording, to, from, {
      // The move had restored a file, which now goes back into the journal.
      overwrite: uncovered,
      ...(displaced ? { afterwards: () => restoreEntry(context.guard, image, to, { signal }) } : {}),
      signal,
    });
    const back = displaced ? `, and the file it had replaced at ${named(to)} was restored` : "";
    return `${named(from)} was moved back${back}.`;
  });
}

async function undoMade({ context, change }: Undoing, effect: Kind<"made">): Promise<Undone> {
  const innermost = effect.directories.at(-1) ?? change.path;
  const look = (directory: GuardedDirectory) => contentOf(context.guard, directory);
  const content = await withDirectory(context.guard, innermost, look).catch(() => undefined);
  if (content === undefined || entriesOf(content) > 0) throw changed(change, innermost);
  return recordUndo(context, change, change, async (recording) => {
    const directories = await removeEmpty(context.guard, effect.directories);
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
  return record(journal, subject, async (recording) => ({ change, done: await make(recording) }));
}

function changed(change: Change, path: string): ToolError {
  return new ToolError(
    "conflict",
    `${named(path)} has changed since change ${change.id}; it was left unchanged.`,
    {
      hint: "Undo the later changes first (list_changes with this path shows them), or write the content you want.",
    },
  );
}

function imageGone(change: Change): (cause: unknown) => never {
  return (cause) => {
    throw new ToolError("conflict", `The content kept for change ${change.id} no longer exists.`, {
      hint: "list_changes shows what can still be undone.",
      cause,
    });
  };
}
