import { notThere, placeOf, withPlace } from "../open-path.ts";
import { keepDisplaced, requireOrdinary } from "./keep.ts";
import { movedState } from "./state.ts";
import type { Making, Outcome, Step } from "./step.ts";

/** Moves or renames a file, a directory or a link (as a link), atomically. */
export async function rename(
  making: Making,
  { path, to, overwrite }: Extract<Step, { kind: "rename" }>,
): Promise<Outcome> {
  const { guard, recording } = making;
  const source = await placeOf(guard, path, { write: true });
  const stat = source.stat ?? (await notThere(guard, path));
  requireOrdinary(stat, path);
  const { after, kept } = await withPlace(guard, path, (place) =>
    withPlace(guard, to, async (target) => {
      // For example "readme" to "README", if the file system ignores case.
      const isItself =
        target.stat?.ino === stat.ino &&
        target.stat.dev === stat.dev &&
        path.toLowerCase() === to.toLowerCase();
      const kept = isItself
        ? {}
        : await keepDisplaced(making, target, { overwrite, links: "keep" });
      return { after: movedState(place.entry, place.stat ?? stat), kept };
    }),
  );
  const size_after = stat.isFile() ? stat.size : undefined;
  await recording.write({ kind: "rename", path, to, after, ...kept, size_after });
  await guard.move(path, to, { overwrite });
  return { replaced: kept.size_before };
}
