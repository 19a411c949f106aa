import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { grouped, oneLine, ToolError } from "@refmcp/core/answer";
import { errorCode, type GuardedDirectory, type PathGuard } from "@refmcp/core/boundary";

/** A directory whose entries are worked on one by one, so that no swapped link leads a walk elsewhere. */
export interface Folder {
  /** For messages. */
  readonly path: string;
  /** A path for fs calls on the entry `name`; "" names the directory itself. */
  entry(name: string): string;
  /** Opens the subdirectory `name`, not through a link. */
  child(name: string): Promise<Folder>;
  /** Throws `conflict` where the directory was swapped since it was opened. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** An opened directory inside the bound. */
export function guardedFolder(guard: PathGuard, directory: GuardedDirectory): Folder {
  return {
    path: directory.path,
    entry: (name) => directory.entry(name),
    async child(name) {
      const child = await guard.openDirectory(join(directory.path, name));
      if (child.realPath === join(directory.realPath, name)) return guardedFolder(guard, child);
      await child.close();
      throw swapped(child.path);
    },
    verify: () => directory.verify(),
    close: () => directory.close(),
  };
}

/** Opens the directory at `path` inside the bound; a link there is followed. */
export async function openFolder(guard: PathGuard, path: string): Promise<Folder> {
  return guardedFolder(guard, await guard.openDirectory(path));
}

/** The refusal where another program replaced something in the middle of our work. */
function swapped(path: string): ToolError {
  return new ToolError(
    "conflict",
    `"${oneLine(path)}" was replaced by another program in the middle of this operation.`,
    {
      hint: "Look at it again, then retry.",
    },
  );
}

/** Directories of more entries than this are handled in parts. */
const MOST_ENTRIES = 1_000_000;

interface FolderEntry {
  readonly name: string;
  /** Of the entry itself: a link is not followed. */
  readonly stat: Stats;
}

/** The entries of one folder, sorted by name. What vanishes meanwhile is left out. */
async function* entriesIn(folder: Folder, signal?: AbortSignal): AsyncGenerator<FolderEntry> {
  for (const name of (await readdir(folder.entry(""))).sort()) {
    signal?.throwIfAborted();
    const stat = await lstat(folder.entry(name)).catch(orMissing);
    if (stat !== undefined) yield { name, stat };
  }
}

/** All entries below `folder`, each directory after its content. Links are entries, not ways. */
export async function* entriesBelow(
  folder: Folder,
  signal?: AbortSignal,
): AsyncGenerator<FolderEntry & { readonly folder: Folder }> {
  for await (const { name, stat } of entriesIn(folder, signal)) {
    if (stat.isDirectory()) {
      const child = await folder.child(name);
      try {
        yield* entriesBelow(child, signal);
      } finally {
        await child.close();
      }
    }
    yield { folder, name, stat };
  }
}

function orMissing(error: unknown): undefined {
  if (errorCode(error) !== "ENOENT") throw error;
}

/** What a directory holds, at any depth. */
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
 * Counts what is below a directory.
 *
 * @throws ToolError `too_large` beyond `most` entries.
 */
export async function contentOf(
  folder: Folder,
  options: { most?: number; signal?: AbortSignal | undefined } = {},
): Promise<Content> {
  const most = options.most ?? MOST_ENTRIES;
  let files = 0;
  let directories = 0;
  let links = 0;
  let others = 0;
  let bytes = 0;
  for await (const { stat } of entriesBelow(folder, options.signal)) {
    if (stat.isFile()) {
      files += 1;
      bytes += stat.size;
    } else if (stat.isDirectory()) directories += 1;
    else if (stat.isSymbolicLink()) links += 1;
    else others += 1;
    if (files + directories + links + others > most) throw tooMany(folder.path, most);
  }
  return { files, directories, links, others, bytes };
}

/** How many entries of any kind. */
export function entriesOf(content: Content): number {
  return content.files + content.directories + content.links + content.others;
}

function tooMany(path: string, most: number): ToolError {
  return new ToolError("too_large", `"${oneLine(path)}" holds more than ${grouped(most)} entries.`, {
    hint: "Work on its subdirectories one by one.",
  });
}
