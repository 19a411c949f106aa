import { notThere, withPlace } from "../open-path.ts";
import { requireOrdinary } from "./put.ts";
import { movedState } from "./state.ts";
import type { Making, Outcome, Step } from "./step.ts";

/** Moves or renames a file, a directory or a link (as a link), atomically, to a free path. */
export async function rename(
  { guard, recording }: Making,
  { path, to }: Extract<Step, { kind: "rename" }>,
): Promise<Outcome> {
  await withPlace(guard, path, async (place) => {
    const stat = place.stat ?? (await notThere(guard, path));
    requireOrdinary(stat, path);
    const after = movedState(place.entry, stat);
    const size_after = stat.isFile() ? stat.size : undefined;
    recording.write({ kind: "rename", path, to, after, size_after });
  });
  await guard.move(path, to, { overwrite: false });
  return {};
}
