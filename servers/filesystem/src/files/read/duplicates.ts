import { createHash } from "node:crypto";
import { join } from "node:path";
import type { GuardedDirectory, PathGuard } from "@refmcp/boundary";
import { orRefused } from "../open-path.ts";
import { FileBatch } from "../search/file-batch.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { statOf } from "../tree/open-below.ts";
import { compareText } from "../tree/path-order.ts";
import { walk } from "../tree/walk.ts";
import { START_BYTES } from "./file-starts.ts";
import { chunksOf } from "./source.ts";

/** Files beyond this number are not compared. */
const MAX_PATHS = 300_000;
/** How many bytes are read of files whose beginnings are the same. */
const MAX_READ_BYTES = 2 * 1024 ** 3;

/** Files with the same content; hard links to the same file count once. */
export interface DuplicateGroup {
  readonly size: number;
  /** Below the directory, sorted. */
  readonly paths: readonly string[];
}

export interface Duplicates {
  /** The groups that waste most space first. */
  readonly groups: readonly DuplicateGroup[];
  /** Bytes of the copies that could be deleted. */
  readonly wasted: number;
  /** Whether some files were not compared, because there are too many or they are too large. */
  readonly isCut: boolean;
}

interface SearchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of files that were read. */
  readonly done: (count: number) => void;
  /** Whether to stop. */
  readonly isLate: () => boolean;
}

/** Finds files with the same content: of those with the same size, those whose beginnings and then all bytes are equal. */
export class DuplicateFinder {
  /** How many files have a size. */
  readonly #sizes = new Map<number, number>();

  /** Adds the size of a file; empty files are not duplicates. */
  add(size: number): void {
    if (size > 0) this.#sizes.set(size, (this.#sizes.get(size) ?? 0) + 1);
  }

  /**
   * Compares the files below `root` that have one of the sizes that were added more than once.
   *
   * @throws the signal's reason, and what the guard throws.
   */
  async find(
    { guard, threads }: { guard: PathGuard; threads: ThreadPool },
    root: GuardedDirectory,
    options: SearchOptions,
  ): Promise<Duplicates> {
    const { found, isCut: tooMany } = await this.#sameStarts(guard, threads, root, options);
    const waste = ({ size, paths }: DuplicateGroup) => size * (paths.length - 1);
    const order = (a: DuplicateGroup, b: DuplicateGroup) =>
      waste(b) - waste(a) || compareText(a.paths[0] ?? "", b.paths[0] ?? "");
    const groups: DuplicateGroup[] = [];
    let isCut = tooMany;
    let left = MAX_READ_BYTES;
    for (const group of found.sort(order)) {
      const bytes = group.size * group.paths.length;
      if (group.size <= START_BYTES) groups.push(group);
      else if (bytes > left || options.isLate()) isCut = true;
      else {
        left -= bytes;
        groups.push(...(await sameContent(guard, root, group, options)));
      }
    }
    return {
      groups: groups.sort(order),
      wasted: groups.reduce((sum, one) => sum + waste(one), 0),
      isCut,
    };
  }

  /** Groups the files whose size and beginning are the same. Threads read the beginnings. */
  async #sameStarts(
    guard: PathGuard,
    threads: ThreadPool,
    root: GuardedDirectory,
    { signal, done, isLate }: SearchOptions,
  ): Promise<{ found: DuplicateGroup[]; isCut: boolean }> {
    const alike = new Map<string, { size: number; paths: string[]; inodes: Set<string> }>();
    let paths = 0;
    let isCut = false;
    let batch = new FileBatch();
    /** Ends when the batch before it, too: one waits while the next is collected. */
    let running = Promise.resolve();

    async function read(files: FileBatch): Promise<void> {
      for (let start = 0; start < files.paths.length; ) {
        const starts = await threads.run("starts", { files: files.text(start) }, signal);
        for (const [index, one] of starts.entries()) {
          const path = files.paths[start + index];
          if (one === null || path === undefined) continue;
          const { size, inode, hash } = one;
          const key = `${size}:${hash}`;
          const same = alike.get(key) ?? { size, paths: [], inodes: new Set<string>() };
          if (!same.inodes.has(inode)) same.paths.push(path);
          same.inodes.add(inode);
          alike.set(key, same);
        }
        done(starts.length);
        // Other calls got their turn in between.
        start += starts.length;
      }
    }

    function send(): void {
      const files = batch;
      batch = new FileBatch();
      running = running.then(() => read(files)).finally(() => files.release());
      // The walk awaits it; until then, a failure is not unhandled.
      running.catch(() => undefined);
    }

    try {
      const { ended } = await walk(guard, root, { signal, rest: () => running }, (met) => {
        if (isLate() || paths >= MAX_PATHS) return "stop";
        if (met.type !== "file") return undefined;
        const size = statOf(met.parent.entry(met.name))?.size ?? 0;
        if ((this.#sizes.get(size) ?? 0) < 2) return undefined;
        paths += 1;
        batch.add(met);
        if (batch.isFull) send();
        return undefined;
      });
      isCut = ended !== "complete";
      if (!batch.isEmpty) send();
      await running;
    } finally {
      // The thread uses the descriptors of directories, so it must end before those are closed.
      await running.catch(() => undefined);
      batch.release();
    }
    const found = [...alike.values()].filter((same) => same.paths.length > 1);
    return {
      found: found.map(({ size, paths }) => ({ size, paths: paths.sort(compareText) })),
      isCut,
    };
  }
}

/** Divides files whose beginnings are the same by their content. Each is opened through the guard. */
async function sameContent(
  guard: PathGuard,
  root: GuardedDirectory,
  { size, paths }: DuplicateGroup,
  { signal, done }: SearchOptions,
): Promise<DuplicateGroup[]> {
  const found = new Map<string, string[]>();
  for (const path of paths) {
    const expected = join(root.realPath, path);
    const file = await guard.openFile(expected).catch(orRefused);
    try {
      if (file?.realPath !== expected || file.stat.size !== size) continue;
      const hash = createHash("sha256");
      for await (const bytes of chunksOf(file, signal)) hash.update(bytes);
      const digest = hash.digest("base64");
      found.set(digest, [...(found.get(digest) ?? []), path]);
    } finally {
      await file?.handle.close();
    }
    done(1);
  }
  return [...found.values()]
    .filter((same) => same.length > 1)
    .map((same) => ({ size, paths: same }));
}
