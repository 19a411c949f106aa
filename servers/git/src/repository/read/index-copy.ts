import { copyFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Repository } from "../open/repository.ts";

/**
 * Copies the index with its time, cut to the second. git takes a file that is older than the index for unchanged without a
 * look at its content ("racy git"), so a copy with the time of now would hide a change of the same length.
 *
 * @returns whether there was an index
 */
export async function copyIndex(repository: Repository, target: string): Promise<boolean> {
  const source = join(repository.location.gitDir, "index");
  // The time first: an index that is replaced in between only makes the copy look older than it is.
  const stats = await stat(source).catch(() => undefined);
  if (stats === undefined) return false;
  const seconds = Math.floor(stats.mtimeMs / 1_000);
  await copyFile(source, target);
  await utimes(target, seconds, seconds);
  return true;
}
