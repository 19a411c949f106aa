import { rmdir, unlink } from "node:fs/promises";
import { grouped, ToolError } from "@refmcp/boundary/answer";
import type { Change, Step } from "../journal/change-record.ts";
import type { ChangeGroup, Receipt } from "../journal/recording.ts";
import { counted, failure, named } from "../messages.ts";
import { withPlace } from "../open-path.ts";
import { type ChangeContext, inGroup } from "./change-context.ts";
import { sameState, stateAt, stateOfImage } from "./entries.ts";
import { checkStep, type Undoing, type UndoOptions, undoingsOf, undoStep } from "./undo.ts";

/** How many steps that cannot be undone are named. */
const MAX_NAMED = 3;
const PROGRESS_EVERY = 25;

interface Blocked {
  readonly step: Step;
  readonly error: ToolError;
}

/**
 * Undoes a change of many files. Every step is checked before the first is undone: either all can be undone, or the
 * error names those that cannot and why (with `skipChanged`, the answer does).
 */
export async function undoGroup(
  context: ChangeContext,
  change: Change,
  images: string,
  { skipChanged = false, progress, signal }: UndoOptions,
): Promise<{ done: string; receipt: Receipt }> {
  const { ready, blocked } = await checked(
    undoingsOf(context, change, images, signal).reverse(),
    change,
  );
  // Created directories alone do not start an undo: they remain while something is in them.
  const files = ready.filter(
    ({ step }) => step.effect?.kind !== "made" && step.effect?.kind !== "unmade",
  );
  if (blocked.length > 0 && (!skipChanged || files.length === 0)) {
    const what = `${grouped(blocked.length)} of ${counted(ready.length + blocked.length, "step")} cannot be undone`;
    throw failure("changed_since", `Nothing was undone: ${what}. ${blockedText(blocked)}`, {
      hint:
        files.length === 0
          ? "Undo the later changes of these files first; list_changes with path shows them."
          : "Undo the later changes of these files first (list_changes with path shows them), or set skip_changed to undo the others.",
    });
  }
  const { path, destination, id } = change;
  const subject = { action: "undo", path, destination, undoes: id } as const;
  const work = async (inside: ChangeContext) => {
    for (const [index, undoing] of ready.entries()) {
      signal?.throwIfAborted();
      await undoStep({ ...undoing, context: inside });
      if ((index + 1) % PROGRESS_EVERY === 0) progress?.(index + 1, ready.length);
    }
    return {};
  };
  const { receipt } = await inGroup(context, subject, work, (group) => takeBack(context, group));
  const left =
    blocked.length === 0 ? "" : ` ${counted(blocked.length, "step")} left: ${blockedText(blocked)}`;
  const nothing = { changeId: undefined, final: undefined };
  return { done: `${counted(files.length, "step")} undone.${left}`, receipt: receipt ?? nothing };
}

/**
 * Undoes what a failed call has changed so far, newest first, and removes its record.
 *
 * @throws ToolError of the first step that could not be undone, after all others were.
 */
export async function takeBack(context: ChangeContext, group: ChangeGroup): Promise<void> {
  const settled = new Set<string>();
  const steps = undoingsOf(context, group.made, group.images).reverse();
  const undoing = await context.journal.group({ action: "undo", path: group.change.path });
  let failed: ToolError | undefined;
  for (const step of steps) {
    const inside = { ...context, record: undoing.record };
    try {
      await undoStep({
        ...step,
        ...settles(settled, step.step),
        isTakenBack: true,
        context: inside,
      });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      failed ??= error;
    }
  }
  await undoing.drop();
  if (failed !== undefined) throw failed;
  await group.drop();
}

async function checked(undoings: readonly Undoing[], change: Change) {
  const settled = new Set<string>();
  const ready: Undoing[] = [];
  const blocked: Blocked[] = [];
  for (const [index, one] of undoings.entries()) {
    one.signal?.throwIfAborted();
    const undoing = { ...one, ...settles(settled, one.step) };
    try {
      if (index === 0 && change.interrupted === true && (await wasNotMade(undoing))) continue;
      await checkStep(undoing);
      ready.push(undoing);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      blocked.push({ step: one.step, error });
    }
  }
  return { ready, blocked };
}

/**
 * Whether a later step of the change has changed the result of this one, or the place that it left; then that step's
 * check covers it. Steps are visited newest first.
 */
function settles(settled: Set<string>, { effect }: Step) {
  if (effect === undefined || effect.kind === "made" || effect.kind === "unmade")
    return { isSettled: false, isFreed: false };
  const [path, left] =
    effect.kind === "moved" ? [effect.to, effect.from] : [effect.path, effect.path];
  const found = { isSettled: settled.has(path), isFreed: settled.has(left) };
  settled.add(path).add(left);
  return found;
}

/**
 * Whether the last step of an interrupted call was recorded but not made. A move that was half made (the file has both
 * names) is completed backward.
 */
async function wasNotMade({ context, step: { effect }, image, signal }: Undoing): Promise<boolean> {
  const { guard } = context;
  if (effect === undefined || effect.kind === "made" || effect.kind === "unmade") return false;
  if (effect.kind === "cut") return false;
  if (effect.kind === "removed")
    return (await stateAt(guard, effect.path, "moved file")) !== undefined;
  if (effect.kind === "created")
    return (await stateAt(guard, effect.path, "moved file")) === undefined;
  if (effect.kind === "replaced") {
    const now = await stateAt(guard, effect.path, "file", signal);
    const kept = await stateOfImage(image, signal).catch(() => undefined);
    return kept !== undefined && sameState(kept, now);
  }
  const { from, to, after } = effect;
  if (!sameState(after, await stateAt(guard, from, after.type))) return false;
  if (sameState(after, await stateAt(guard, to, after.type))) {
    await withPlace(guard, from, (source) =>
      withPlace(guard, to, async ({ entry, stat }) => {
        if (stat?.isDirectory()) await rmdir(entry);
        else if (stat?.isSymbolicLink() || stat?.ino === source.stat?.ino) await unlink(entry);
      }),
    );
  }
  return true;
}

function blockedText(blocked: readonly Blocked[]): string {
  const lines = blocked
    .slice(0, MAX_NAMED)
    .map(({ step, error }) => `${named(step.path)}: ${error.message}`);
  const more = blocked.length - MAX_NAMED;
  return `${lines.join(" ")}${more > 0 ? ` And ${counted(more, "other")}.` : ""}`;
}
