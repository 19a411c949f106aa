import { copyFile, mkdtemp, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Repository } from "../open/repository.ts";

/** The environment of git's processes that use another index. */
interface IndexEnv extends Readonly<Record<string, string>> {
  readonly GIT_INDEX_FILE: string;
}

/** Gives some work a folder, which is removed when it ends. */
export async function inTemporaryFolder<Value>(
  work: (folder: string) => Promise<Value>,
): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-git-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives some work an index that is empty at first. */
export function inTemporaryIndex<Value>(work: (env: IndexEnv) => Promise<Value>): Promise<Value> {
  return inTemporaryFolder((folder) => work({ GIT_INDEX_FILE: join(folder, "index") }));
}

/** Gives some work a copy of the repository's index. */
export function inIndexCopy<Value>(
  repository: Repository,
  work: (env: IndexEnv) => Promise<Value>,
): Promise<Value> {
  return inTemporaryIndex(async (env) => {
    await copyIndex(repository, env.GIT_INDEX_FILE);
    return work(env);
  });
}

/**
 * Copies the index with its modification time, truncated to the second. git considers a file older
 * than the index unchanged without reading it ("racy git"), so a copy with the current time would hide
 * a change of the same length.
 */
async function copyIndex({ location }: Repository, target: string): Promise<void> {
  const source = join(location.gitDir, "index");
  // The time first: if the index is replaced in between, the copy only looks older than it is.
  const stats = await stat(source).catch(() => undefined);
  if (stats === undefined) return;
  const seconds = Math.floor(stats.mtimeMs / 1_000);
  await copyFile(source, target);
  await utimes(target, seconds, seconds);
}
