import { rmdirSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { digits, ToolError } from "@refmcp/boundary/answer";
import { counted, failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { openIfThere, placeOf, withFile, withPlace } from "../open-path.ts";
import { hashOf, readAt } from "../read/bytes.ts";
import type { Change, RecordedStep } from "../store/record.ts";
import { isStill, stateOf } from "../store/state.ts";
import type { Receipt } from "../store/store.ts";
import { isMadeDirectory, pathsOfStep, type Reversal, reversalOf, settle } from "./reversal.ts";
import { run } from "./run.ts";
import { changedSince, type RunOptions } from "./step.ts";

/** How many steps that cannot be undone are named. */
const MAX_NAMED = 3;

interface UndoOptions extends RunOptions {
  /** Of a change of many files: undoes the others if some have changed since. */
  readonly skipChanged?: boolean;
}

/**
 * Undoes a change: puts back what was there before, if what the change made is still there. Every step is checked
 * before the first is undone. The undo is also recorded as a change, so undoing it redoes the first one.
 *
 * @throws ToolError `conflict` if the result of the change has changed since; `not_found` for an unknown id
 */
export async function undo(
  files: Files,
  id: string,
  options: UndoOptions = {},
): Promise<{ change: Change; done: string; receipt: Receipt }> {
  const change = await files.store.get(id);
  const again = (await files.store.undone()).get(id);
  try {
    return { change, ...(await undoSteps(files, change, options)) };
  } catch (error) {
    if (again === undefined || !(error instanceof ToolError) || error.kind !== "conflict")
      throw error;
    throw failure("already_undone", `Change ${id} was already undone by change ${again}.`, {
      hint: `To redo it, undo ${again}.`,
      cause: error,
    });
  }
}

async function undoSteps({ guard, ...rest }: Files, change: Change, options: UndoOptions) {
  const files: Files = { ...rest, guard: guard.exact() };
  const { ready, blocked } = await checkedChange(files, change, options.signal);
  const isOne = change.steps.filter((step) => !isMadeDirectory(step)).length === 1;
  const steps = ready.flatMap((reversal) => reversal.steps);
  // Created directories alone do not start an undo: they remain while something is in them.
  const done = ready.filter(({ step }) => !isMadeDirectory(step));
  const isRefused = blocked.length > 0 && (options.skipChanged !== true || done.length === 0);
  if (isRefused && isOne && blocked[0] !== undefined) throw blocked[0].error;
  if (isRefused) throw refusal(blocked, ready.length, done.length);
  const { path, destination, id } = change;
  const subject = { action: "undo", path, destination, undoes: id } as const;
  const { receipt } = await run(files, subject, steps, options);
  if (receipt === undefined && change.interrupted && blocked.length === 0)
    throw failure("nothing_made", `Change ${id} was interrupted and left nothing to undo.`);
  if (receipt === undefined) throw changedSince(path, id);
  const note =
    blocked.length === 0 ? "" : ` ${counted(blocked.length, "step")} left: ${blockedText(blocked)}`;
  const names = ready.map(({ step }) => named(step.path)).join(", ");
  const [only] = done;
  if (only === undefined) return { done: `${names}: removed.${note}`, receipt };
  return { done: (isOne ? only.done : `${counted(done.length, "step")} undone.`) + note, receipt };
}

interface Blocked {
  readonly step: RecordedStep;
  readonly error: ToolError;
}

/** Finds out which steps of a change can be undone, the last one first. */
async function checkedChange(files: Files, change: Change, signal: AbortSignal | undefined) {
  const settled = new Set<string>();
  const ready: Reversal[] = [];
  const blocked: Blocked[] = [];
  const stuck = new Set<string>();
  for (const [index, step] of change.steps.toReversed().entries()) {
    signal?.throwIfAborted();
    const isCovered = settle(settled, step);
    try {
      // What was at a path before cannot be put back while it is in use.
      if (stuck.has(pathsOfStep(step)[0])) throw changedSince(step.path, change.id);
      if (index === 0 && change.interrupted && (await wasNotMade(files, step, signal))) continue;
      await check(files, change, step, isCovered, signal);
      ready.push(await reversalOf(files.guard, change.id, step, isCovered));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      blocked.push({ step, error });
      for (const path of pathsOfStep(step)) stuck.add(path);
    }
  }
  return { ready, blocked };
}

/** Throws if a step cannot be undone now; changes nothing. */
async function check(
  { guard, store }: Files,
  change: Change,
  step: RecordedStep,
  isCovered: ReturnType<typeof settle>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if ("image" in step && step.image !== undefined) store.openImage(step.image).close();
  const { path } = step;
  if (step.kind === "rename") {
    if (!isCovered.result && !(await isStill(guard, step.to, step.after, signal)))
      throw changedSince(step.to, change.id);
    if (isCovered.origin || !(await guard.exists(path))) return;
    // A change of letter case, on a file system that ignores it, has one entry under both names.
    const [old, now] = [await placeOf(guard, path), await placeOf(guard, step.to)];
    if (old.stat?.ino !== now.stat?.ino) throw occupied(path);
    return;
  }
  if (isCovered.result) return;
  if (step.kind === "put") {
    // In a change of many files, the directories are not empty yet, and those in use are kept.
    if (isMadeDirectory(step) && !change.steps.every(isMadeDirectory)) return;
    const isLast = !isMadeDirectory(step) || step === change.steps.at(-1);
    if (!isLast || (await isStill(guard, path, step.after, signal))) return;
    throw step.after.type === "nothing" ? occupied(path) : changedSince(path, change.id);
  }
  const size = step.kind === "cut" ? step.size : (step.size_after ?? 0);
  const file = await openIfThere(guard, path);
  try {
    const isSame = file?.stat.size === size;
    if (file && isSame && step.kind === "cut") return;
    if (file && isSame && step.kind === "append") {
      const bytes = await readAt(file, step.from, size - step.from);
      if (hashOf(bytes) === step.digest) return;
    }
  } finally {
    await file?.handle.close();
  }
  throw changedSince(path, change.id);
}

function occupied(path: string): ToolError {
  return failure("occupied", `${named(path)} already exists.`);
}

/**
 * Whether the last step of an interrupted call was recorded but not made. A move that was half made (the file has both
 * names) is completed backward.
 */
async function wasNotMade(
  { guard, store }: Files,
  step: RecordedStep,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { path } = step;
  if (step.kind === "append" || step.kind === "cut") {
    const before = step.kind === "append" ? step.from : step.size_before;
    return withFile(guard, path, async ({ stat }) => stat.size === before);
  }
  if (step.kind === "put") {
    if (step.image === undefined) return !(await guard.exists(path));
    if (step.after.type === "nothing") return guard.exists(path);
    const own = store.openImage(step.image);
    try {
      const name = step.image.slice(dirname(step.image).length + 1);
      return await isStill(guard, path, await stateOf(own, name, signal), signal);
    } finally {
      own.close();
    }
  }
  const { to, after } = step;
  if (!(await isStill(guard, path, after, signal))) return false;
  if (await isStill(guard, to, after, signal))
    await withPlace(guard, path, (source) =>
      withPlace(guard, to, async ({ entry, stat }) => {
        if (stat?.isDirectory()) rmdirSync(entry);
        else if (stat?.isSymbolicLink() || stat?.ino === source.stat?.ino) unlinkSync(entry);
      }),
    );
  return true;
}

function refusal(blocked: readonly Blocked[], ready: number, files: number): ToolError {
  const what = `${digits(blocked.length)} of ${counted(ready + blocked.length, "step")} cannot be undone`;
  const hint =
    files === 0
      ? "Undo the later changes of these files first; list_changes with path shows them."
      : "Undo the later changes of these files first (list_changes with path shows them), or set skip_changed to undo the others.";
  const message = `Nothing was undone: ${what}. ${blockedText(blocked)}`;
  return failure("changed_since", message, { hint });
}

function blockedText(blocked: readonly Blocked[]): string {
  const lines = blocked
    .slice(0, MAX_NAMED)
    .map(({ step, error }) => `${named(step.path)}: ${error.message}`);
  const more = blocked.length - MAX_NAMED;
  return `${lines.join(" ")}${more > 0 ? ` And ${counted(more, "other")}.` : ""}`;
}
