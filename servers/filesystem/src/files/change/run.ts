import { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { lockPath } from "../open-path.ts";
import type { Subject } from "../store/record.ts";
import { type Recording, startRecording } from "../store/recording.ts";
import { isStill } from "../store/state.ts";
import type { Receipt } from "../store/store.ts";
import { append, cut } from "./append.ts";
import { copyTo } from "./copy.ts";
import { createDirectory, moveEntry, remove, restore, writeBytes } from "./put.ts";
import { pathsOfStep, reversalOf, settle } from "./reversal.ts";
import {
  changedSince,
  isDirectoryStep,
  type Making,
  type Outcome,
  type RunOptions,
  type Step,
} from "./step.ts";

/** How many files are changed between two progress reports. */
const PROGRESS_EVERY = 25;

/**
 * Carries out steps as one change, with one id: all of them, or nothing if one fails or the call is cancelled.
 *
 * @throws what the step that failed throws; ToolError `conflict` if what was made could not be taken back
 */
export async function run(
  { guard, ...rest }: Files,
  subject: Subject,
  steps: readonly Step[],
  options: RunOptions = {},
): Promise<{ receipt: Receipt | undefined; outcomes: Outcome[] }> {
  const { signal, progress } = options;
  // The paths of steps are those on the disk.
  const files: Files = { ...rest, guard: guard.exact() };
  const recording = await startRecording(files.store, subject);
  const total = steps.filter((step) => !isDirectoryStep(step)).length;
  const ofStep = { ...options, progress: total === 1 ? progress : undefined };
  const outcomes: Outcome[] = [];
  let done = 0;
  try {
    for (const step of steps) {
      signal?.throwIfAborted();
      outcomes.push(await make(files, recording, step, ofStep));
      if (!isDirectoryStep(step) && ++done % PROGRESS_EVERY === 0) progress?.(done, total);
    }
    return { receipt: await recording.end(), outcomes };
  } catch (error) {
    await takeBack(files, recording).catch(async (cause: unknown) => {
      await recording.end();
      const [first, second] = [error, cause].map((reason) =>
        reason instanceof ToolError ? reason.message : "an error",
      );
      const message = `${first} Not everything could be taken back: ${second} What remains is change ${recording.head.id}.`;
      throw failure("half_made", message, { cause });
    });
    throw error;
  }
}

/**
 * Undoes what a failed call has changed so far, newest first, and removes its record.
 *
 * @throws ToolError of the first step that could not be undone, after all others were
 */
async function takeBack(files: Files, recording: Recording): Promise<void> {
  const settled = new Set<string>();
  const undoing = await startRecording(files.store, { action: "undo", path: recording.head.path });
  let firstError: ToolError | undefined;
  const stuck = new Set<string>();
  for (const step of recording.steps.toReversed()) {
    const isCovered = settle(settled, step);
    // What was at a path before cannot be put back while it is in use.
    if (stuck.has(pathsOfStep(step)[0])) continue;
    try {
      const { steps } = await reversalOf(files.guard, recording.head.id, step, isCovered);
      for (const reverse of steps) await make(files, undoing, reverse);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      firstError ??= error;
      for (const path of pathsOfStep(step)) stuck.add(path);
    }
  }
  await undoing.drop();
  if (firstError !== undefined) throw firstError;
  await recording.drop();
}

/** Makes one step and records it; nothing is changed or recorded if it fails. */
async function make(
  files: Files,
  recording: Recording,
  step: Step,
  { isLocked, signal, progress }: RunOptions = {},
): Promise<Outcome> {
  const { requires } = step;
  const work = () =>
    recording.attempt(async () => {
      if (requires && !(await isStill(files.guard, requires.path, requires.state, signal)))
        throw changedSince(requires.path, requires.change);
      return makeNow({ ...files, recording, signal }, step, progress);
    });
  const keys = isLocked ? [] : await keysOf(files, step);
  return (await files.locks.hold(keys, work, signal)) ?? {};
}

/** The real paths to lock for a step. */
async function keysOf({ guard }: Files, step: Step): Promise<string[]> {
  if (step.kind === "rename")
    return [await lockPath(guard, step.path, false), await lockPath(guard, step.to, false)];
  const isWritten = step.kind !== "put" || step.content.kind === "bytes";
  return [await lockPath(guard, step.path, isWritten)];
}

/** Undefined if there was nothing to do. */
async function makeNow(
  making: Making,
  step: Step,
  progress: RunOptions["progress"],
): Promise<Outcome | undefined> {
  const { path } = step;
  if (step.kind === "rename") return moveEntry(making, step);
  if (step.kind === "append") return append(making, step);
  if (step.kind === "cut") return cut(making, step);
  const { content } = step;
  if (content.kind === "nothing") return remove(making, path, content);
  if (content.kind === "directory") return createDirectory(making, path);
  if (content.kind === "bytes") return writeBytes(making, path, content);
  if (content.kind === "image") return restore(making, path, content);
  return copyTo(making, path, content, progress);
}
