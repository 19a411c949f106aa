import { copyFile, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Repository } from "../open/repository.ts";

/**
 * Copies the index with its modification time, truncated to the second. git considers a file older than the index unchanged
 * without reading it ("racy git"), so a copy with the current time would hide a change of the same length.
 */
export async function copyIndex(repository: Repository, target: string): Promise<void> {
  const source = join(repository.location.gitDir, "index");
  // The time first: if the index is replaced in between, the copy only looks older than it is.
  const stats = await stat(source).catch(() => undefined);
  if (stats === undefined) return;
  const seconds = Math.floor(stats.mtimeMs / 1_000);
  await copyFile(source, target);
  await utimes(target, seconds, seconds);
}

/** Gives some work a folder, which is removed when it ends. */
export async function inTemporaryFolder<Value>(work: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-git-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
