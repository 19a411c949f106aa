import { realpathSync, statSync } from "node:fs";

const MISSING = "missing";

/** Identifies a file's content without reading it. */
export function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return MISSING;
  }
}

/**
 * Whether a file with this state at that time must get another one if it changes: a second change
 * within the resolution of the file system's clock (two seconds on FAT) would not show.
 *
 * @param time in milliseconds
 */
export function isSettled(state: string, time: number): boolean {
  const [, , , changed] = state.split(" ");
  if (changed === undefined) return true;
  const isCoarse = changed.endsWith("000000000");
  return Number(BigInt(changed) / 1_000_000n) < time - (isCoarse ? 2_100 : 50);
}

/** A file's real path; the path itself if there is no such file. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
