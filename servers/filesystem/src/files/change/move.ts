import { readlink, symlink } from "node:fs/promises";
import { sized } from "@refmcp/boundary/answer";
import type { State } from "../journal/change-record.ts";
import type { Recording } from "../journal/recording.ts";
import { failure, named } from "../messages.ts";
import { entryPath, placeOf, withFile, withPlace } from "../open-path.ts";
import type { ChangeContext } from "./change-context.ts";
import { ordinaryType } from "./delete.ts";
import { movedState } from "./entries.ts";

export interface MoveRequest {
  readonly source: string;
  readonly destination: string;
  /** Replaces a file or link at the destination; a directory is never replaced. */
  readonly overwrite: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Moves or renames a file, a directory or a link (as a link), atomically.
 *
 * @returns `replaced`: the size of the replaced file in bytes, if there was one.
 * @throws ToolError `conflict` if something is at the destination, decided by the file system; `not_found`.
 */
export async function move(context: ChangeContext, request: MoveRequest) {
  const { guard, record, locks } = context;
  const from = await guard.resolve(request.source);
  const to = await guard.resolve(request.destination);
  return record({ action: "move", path: from, destination: to }, async (recording) => {
    const keys = [await entryPath(guard, from), await entryPath(guard, to)];
    if (keys[0] === keys[1])
      throw failure("onto_itself", `${named(from)} cannot be moved onto itself.`);
    return locks.hold(
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
) {
  const { guard } = context;
  const { type, size, after, renamesOnly } = await withPlace(guard, from, async (source) => {
    const type = await ordinaryType(guard, source);
    const { stat } = source;
    const after: State =
      type === "link" ? { type, target: await readlink(source.entry) } : movedState(stat);
    const target = await placeOf(guard, to, { write: true });
    // For example "readme" to "README", if the file system ignores case.
    const renamesOnly =
      target.stat !== undefined &&
      target.stat.ino === stat?.ino &&
      target.stat.dev === stat.dev &&
      from.toLowerCase() === to.toLowerCase();
    return { type, after, size: type === "file" ? stat?.size : undefined, renamesOnly };
  });
  const { overwrite, afterwards, signal } = options;
  const replaced = renamesOnly
    ? undefined
    : await keepDisplaced(context, recording, to, { overwrite, signal, links: "keep" });
  const [displaced, uncovered] = [replaced !== undefined, afterwards !== undefined];
  await recording.write(
    { kind: "moved", from, to, after, displaced, uncovered },
    { before: replaced, after: size },
  );
  await guard.move(from, to, { overwrite });
  await afterwards?.().catch(async (error: unknown) => {
    await guard.move(to, from);
    throw error;
  });
  return { path: from, destination: to, type, replaced };
}

/**
 * Saves the entry at `path` as the image of a change that will replace it.
 *
 * @returns its size in bytes, or undefined if it does not exist.
 * @throws ToolError `conflict` if it may not be replaced: without `overwrite`, a directory, or a link that is
 * refused.
 */
export async function keepDisplaced(
  { guard }: ChangeContext,
  recording: Recording,
  path: string,
  options: { overwrite: boolean; links: "keep" | "refuse"; signal?: AbortSignal | undefined },
): Promise<number | undefined> {
  const place = await guard.place(path, { write: true });
  try {
    const { stat } = place;
    if (stat === undefined) return undefined;
    if (stat.isDirectory()) {
      throw failure("directory_exists", `${named(path)} already exists and is a directory.`);
    }
    if (!options.overwrite) throw failure("exists", `${named(path)} already exists.`);
    if (stat.isSymbolicLink()) {
      if (options.links === "refuse") {
        throw failure("link_exists", `${named(path)} already exists and is a symlink.`);
      }
      const image = recording.imageFor(0);
      if (image !== undefined) await symlink(await readlink(place.entry), image);
      return 0;
    }
  } finally {
    await place.parent.close();
  }
  return withFile(guard, path, async (file) => {
    await recording.keep(file, options.signal);
    return file.stat.size;
  });
}

/**
 * `Overwrite "…"? Its current content will be permanently lost: …`, or undefined if the journal or a trash keeps it.
 */
export async function lossQuestion(
  { guard, journal }: ChangeContext,
  verb: string,
  path: string,
  bytes: number,
): Promise<string | undefined> {
  const reason = await journal.whyLost(await entryPath(guard, path), bytes);
  return reason === undefined
    ? undefined
    : `${verb} ${named(path)}? Its current content (${sized(bytes)}) will be permanently lost: ${reason}.`;
}
