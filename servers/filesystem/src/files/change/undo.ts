import { rmdirSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { grouped, ToolError } from "@refmcp/boundary/answer";
import { counted, failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { openIfThere, placeOf, withFile, withPlace } from "../open-path.ts";
import { hashOf, readAt } from "../read/bytes.ts";
import { missingDirectories } from "./plan.ts";
import type { Change, RecordedStep } from "./record.ts";
import { changedSince, make, type RunOptions, run, type Step } from "./run.ts";
import { isStill, stateOf } from "./state.ts";
import type { Receipt, Recording } from "./store.ts";

/** How many steps that cannot be undone are named. */
const MAX_NAMED = 3;

export interface UndoOptions extends RunOptions {
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

async function undoSteps(files: Files, change: Change, options: UndoOptions) {
  const { ready, blocked } = await checked(files, change, options.signal);
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
  if (receipt === undefined) throw changedSince(path, id);
  const left =
    blocked.length === 0 ? "" : ` ${counted(blocked.length, "step")} left: ${blockedText(blocked)}`;
  const names = ready.map(({ step }) => named(step.path)).join(", ");
  const [only] = done;
  if (only === undefined) return { done: `${names}: removed.${left}`, receipt };
  return { done: (isOne ? only.done : `${counted(done.length, "step")} undone.`) + left, receipt };
}

const isMadeDirectory = (step: RecordedStep) =>
  step.kind === "put" && step.after.type === "empty directory" && step.image === undefined;

/** The steps that undo one step, and what to say about it. */
interface Reversal {
  readonly step: RecordedStep;
  readonly steps: readonly Step[];
  readonly done: string;
}

interface Blocked {
  readonly step: RecordedStep;
  readonly error: ToolError;
}

/** Finds out which steps of a change can be undone, the last one first. */
async function checked(files: Files, change: Change, signal: AbortSignal | undefined) {
  const settled = new Set<string>();
  const ready: Reversal[] = [];
  const blocked: Blocked[] = [];
  for (const [index, step] of change.steps.toReversed().entries()) {
    signal?.throwIfAborted();
    const isCovered = settle(settled, step);
    try {
      if (index === 0 && change.interrupted && (await wasNotMade(files, step, signal))) continue;
      await check(files, change, step, isCovered, signal);
      ready.push(await reversalOf(files, change.id, step, isCovered));
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      blocked.push({ step, error });
    }
  }
  return { ready, blocked };
}

/**
 * Undoes what a failed call has changed so far, newest first, and removes its record.
 *
 * @throws ToolError of the first step that could not be undone, after all others were
 */
export async function takeBack(files: Files, recording: Recording): Promise<void> {
  const settled = new Set<string>();
  const undoing = await files.store.begin({ action: "undo", path: recording.path });
  let failed: ToolError | undefined;
  for (const step of recording.steps.toReversed()) {
    const isCovered = settle(settled, step);
    try {
      const { steps } = await reversalOf(files, recording.id, step, isCovered);
      for (const reverse of steps) await make(files, undoing, reverse);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      failed ??= error;
    }
  }
  await undoing.drop();
  if (failed !== undefined) throw failed;
  await recording.drop();
}

/** Whether a later step of the same change, which is undone before, changed the path of a step; so its state is known. */
interface Covered {
  readonly result: boolean;
  /** The same for the path that a move left. */
  readonly origin: boolean;
}

function settle(settled: Set<string>, step: RecordedStep): Covered {
  const result = step.kind === "rename" ? step.to : step.path;
  const isCovered = { result: settled.has(result), origin: settled.has(step.path) };
  settled.add(result).add(step.path);
  return isCovered;
}

/** Throws if a step cannot be undone now; changes nothing. */
async function check(
  { guard, store }: Files,
  change: Change,
  step: RecordedStep,
  isCovered: Covered,
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
  if (!(await isAppended(step))) throw changedSince(path, change.id);

  async function isAppended(step: Exclude<RecordedStep, { kind: "put" | "rename" }>) {
    const file = await openIfThere(guard, step.path);
    if (file === undefined) return false;
    try {
      const size = step.kind === "cut" ? step.size : step.size_after;
      if (file.stat.size !== size) return false;
      if (step.kind === "cut") return true;
      return hashOf(await readAt(file, step.from, size - step.from)) === step.digest;
    } finally {
      await file.handle.close();
    }
  }
}

function occupied(path: string): ToolError {
  return failure("occupied", `${named(path)} already exists.`);
}

async function reversalOf(
  { guard }: Files,
  change: string,
  step: RecordedStep,
  isCovered: Covered,
): Promise<Reversal> {
  const { path } = step;
  const requires = (at: string) =>
    isCovered.result || !("after" in step) ? undefined : { path: at, state: step.after, change };
  const parents = async () =>
    (await missingDirectories(guard, dirname(path))).map(
      (path): Step => ({ kind: "put", path, content: { kind: "directory" } }),
    );
  const put = (path: string, image: string): Step => ({
    kind: "put",
    path,
    content: { kind: "image", image },
  });
  const content = `${named(path)} was restored to its previous content.`;
  if (step.kind === "rename") {
    const { to, image } = step;
    const back: Step = {
      kind: "rename",
      path: to,
      to: path,
      overwrite: false,
      requires: requires(to),
    };
    const displaced = image === undefined ? [] : [put(to, image)];
    const and =
      image === undefined ? "" : `, and the file it had replaced at ${named(to)} was restored`;
    const done = `${named(path)} was moved back${and}.`;
    return { step, steps: [...(await parents()), back, ...displaced], done };
  }
  if (step.kind === "append") {
    const { from, size_after: size = from } = step;
    return { step, steps: [{ kind: "cut", path, from, size }], done: content };
  }
  if (step.kind === "cut") {
    const { image } = step;
    return { step, steps: [{ kind: "append", path, bytes: { image } }], done: content };
  }
  if (step.image !== undefined) {
    const back = { ...put(path, step.image), requires: requires(path) };
    const done = step.after.type === "nothing" ? `${named(path)} was restored.` : content;
    return { step, steps: [...(await parents()), back], done };
  }
  const isOptional = step.after.type === "empty directory";
  const remove = { kind: "put", path, content: { kind: "nothing", isOptional } } as const;
  const steps = [isOptional ? remove : { ...remove, requires: requires(path) }];
  return { step, steps, done: `${named(path)} was removed.` };
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
  const what = `${grouped(blocked.length)} of ${counted(ready + blocked.length, "step")} cannot be undone`;
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
