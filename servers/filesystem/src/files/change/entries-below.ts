import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, type GuardedDirectory, type PathGuard } from "@refmcp/boundary";
import { grouped, oneLine, ToolError } from "@refmcp/boundary/answer";

/** Opens the subdirectory `name`, never through a link, so that a swapped link cannot redirect a walk. */
export async function openChild(
  guard: PathGuard,
  directory: GuardedDirectory,
  name: string,
): Promise<GuardedDirectory> {
  const child = await guard.openDirectory(join(directory.path, name));
  if (child.realPath === join(directory.realPath, name)) return child;
  await child.close();
  throw new ToolError(
    "conflict",
    `"${oneLine(child.path)}" was replaced by another program during this operation.`,
    { hint: "Check it, then retry." },
  );
}

/** Directories with more entries than this are handled in parts. */
const MAX_ENTRIES = 1_000_000;

interface EntryBelow {
  /** Its opened directory. */
  readonly directory: GuardedDirectory;
  readonly name: string;
  /** The entry's own stat; a link is not followed. */
  readonly stat: Stats;
}

/**
 * All entries below `directory` in name order, each directory after its contents. Links are not followed; entries that
 * disappear during the walk are omitted.
 */
export async function* entriesBelow(
  guard: PathGuard,
  directory: GuardedDirectory,
  signal?: AbortSignal,
): AsyncGenerator<EntryBelow> {
  for (const name of (await readdir(directory.entry(""))).sort()) {
    signal?.throwIfAborted();
    const stat = await lstat(directory.entry(name)).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
    if (stat === undefined) continue;
    if (stat.isDirectory()) {
      const child = await openChild(guard, directory, name);
      try {
        yield* entriesBelow(guard, child, signal);
      } finally {
        await child.close();
      }
    }
    yield { directory, name, stat };
  }
}

/** A directory's contents, at any depth. */
export interface Content {
  readonly files: number;
  readonly directories: number;
  readonly links: number;
  /** FIFOs, sockets, devices. */
  readonly others: number;
  /** Bytes of the files. */
  readonly bytes: number;
}

/**
 * Counts what a directory contains.
 *
 * @throws ToolError `too_large` beyond `max` entries.
 */
export async function contentOf(
  guard: PathGuard,
  directory: GuardedDirectory,
  options: { max?: number; signal?: AbortSignal | undefined } = {},
): Promise<Content> {
  const max = options.max ?? MAX_ENTRIES;
  const content = { files: 0, directories: 0, links: 0, others: 0, bytes: 0 };
  for await (const { stat } of entriesBelow(guard, directory, options.signal)) {
    if (stat.isFile()) {
      content.files += 1;
      content.bytes += stat.size;
    } else if (stat.isDirectory()) content.directories += 1;
    else if (stat.isSymbolicLink()) content.links += 1;
    else content.others += 1;
    if (entriesOf(content) > max) {
      const message = `"${oneLine(directory.path)}" contains more than ${grouped(max)} entries.`;
      throw new ToolError("too_large", message, { hint: "Work on its subdirectories one by one." });
    }
  }
  return content;
}

/** The total number of entries; 0 without content. */
export function entriesOf(content: Content | undefined): number {
  if (content === undefined) return 0;
  return content.files + content.directories + content.links + content.others;
}
