import { readlink } from "node:fs/promises";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { State } from "../journal/change-record.ts";
import { type Receipt, type Recording, record } from "../journal/recording.ts";
import { placeOf, withPlace } from "../open-path.ts";
import { type ChangeContext, entryPath } from "./change-context.ts";
import { movedState } from "./entry-state.ts";
import { ordinaryType } from "./remove-entry.ts";
import { keepDisplaced } from "./replaced-entry.ts";

export interface MoveRequest {
  readonly source: string;
  readonly destination: string;
  /** Replaces a file or link at the destination; a directory is never replaced. */
  readonly overwrite: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Moved {
  readonly path: string;
  readonly destination: string;
  readonly type: "file" | "directory" | "link";
  /** The size of the replaced file in bytes, if there was one. */
  readonly replaced: number | undefined;
  readonly receipt: Receipt;
}

/**
 * Moves or renames a file, a directory or a link (as a link), atomically.
 *
 * @throws ToolError `conflict` if something is at the destination, decided by the file system; `not_found`.
 */
export async function move(context: ChangeContext, request: MoveRequest): Promise<Moved> {
  const from = await context.guard.resolve(request.source);
  const to = await context.guard.resolve(request.destination);
  return record(context.journal, { action: "move", path: from, destination: to }, async (recording) => {
    const keys = [await entryPath(context.guard, from), await entryPath(context.guard, to)];
    if (keys[0] === keys[1]) {
      throw new ToolError("invalid", `"${oneLine(from)}" cannot be moved onto itself.`, {
        hint: "Give another destination.",
      });
    }
    return context.locks.hold(
      keys,
      () => moveRecorded(context, recording, from, to, request),
      request.signal,
    );
  });
}

/**
 * A move whose recording has started; the caller holds the locks of both paths.
 *
 * @param options.afterwards runs after the move; if it fails, the move is undone.
 */
export async function moveRecorded(
  context: ChangeContext,
  recording: Recording,
  from: string,
  to: string,
  options: { overwrite: boolean; afterwards?(): Promise<void>; signal?: AbortSignal | undefined },
): Promise<Omit<Moved, "receipt">> {
  const { type, size, after, renamesOnly } = await look(context, from, to);
  const uncovered = options.afterwards !== undefined;
  const replaced = renamesOnly
    ? undefined
    : await keepDisplaced(context, recording, to, { ...options, links: "keep" });
  await recording.write(
    { kind: "moved", from, to, after, displaced: replaced !== undefined, uncovered },
    { before: replaced, after: size },
  );
  await context.guard.move(from, to, { overwrite: options.overwrite });
  await options.afterwards?.().catch(async (error: unknown) => {
    await context.guard.move(to, from);
    throw error;
  });
  return { path: from, destination: to, type, replaced };
}

async function look(context: ChangeContext, from: string, to: string) {
  return withPlace(context.guard, from, async (source) => {
    const type = await ordinaryType(context.guard, source);
    const { stat } = source;
    const after: State = type === "link" ? { type, target: await readlink(source.entry) } : movedState(stat);
    const target = await placeOf(context.guard, to, { write: true });
    // For example "readme" to "README", if the file system ignores case.
    const renamesOnly =
      target.stat !== undefined &&
      target.stat.ino === stat?.ino &&
      target.stat.dev === stat.dev &&
      from.toLowerCase() === to.toLowerCase();
    return { type, after, size: type === "file" ? stat?.size : undefined, renamesOnly };
  });
}
