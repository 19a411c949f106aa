import { createHash } from "node:crypto";
import { join } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { orRefused } from "../open-path.ts";
import { compareText } from "../tree/path-order.ts";
import { chunksOf, readAt } from "./source.ts";

/** Files of other sizes than this many paths are not compared. */
const MAX_PATHS = 300_000;
/** How many bytes are read in total, and of a file before reading all of it. */
const MAX_READ_BYTES = 2 * 1024 ** 3;
const START_BYTES = 16 * 1024;

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

/** Finds files with the same content: those of the same size first, then those whose beginning has the same hash. */
export class DuplicateFinder {
  readonly #bySize = new Map<number, string[]>();
  #paths = 0;

  /** Adds a file; empty files are not duplicates. */
  add(path: string, size: number): void {
    if (size === 0) return;
    this.#paths += 1;
    if (this.#paths > MAX_PATHS) return;
    const same = this.#bySize.get(size);
    if (same === undefined) this.#bySize.set(size, [path]);
    else same.push(path);
  }

  /**
   * Compares the files, in the order of the space that their group could waste.
   *
   * @param root the real path that the paths are below.
   * @param done called with the number of files that were read.
   * @param isLate whether to stop.
   * @throws the signal's reason.
   */
  async find(
    guard: PathGuard,
    root: string,
    options: { signal?: AbortSignal | undefined; done: (count: number) => void; isLate: () => boolean },
  ): Promise<Duplicates> {
    const candidates = [...this.#bySize].filter(([, paths]) => paths.length > 1);
    candidates.sort(([a, one], [b, other]) => b * (other.length - 1) - a * (one.length - 1) || b - a);
    const groups: DuplicateGroup[] = [];
    let isCut = this.#paths > MAX_PATHS;
    let left = MAX_READ_BYTES;

    /** Groups paths by a hash of their files' content; each file counts once. */
    async function byHash(paths: readonly string[], size: number, whole: boolean): Promise<string[][]> {
      const found = new Map<string, string[]>();
      const inodes = new Set<string>();
      for (const path of paths) {
        options.signal?.throwIfAborted();
        if (options.isLate()) {
          isCut = true;
          break;
        }
        const file = await guard.openFile(join(root, path)).catch(orRefused);
        if (file === undefined) continue;
        try {
          const { dev, ino } = file.stat;
          const inode = `${dev}:${ino}`;
          if (file.realPath !== join(root, path) || file.stat.size !== size || inodes.has(inode)) continue;
          inodes.add(inode);
          left -= whole ? size : Math.min(size, START_BYTES);
          const hash = createHash("sha256");
          if (whole) for await (const bytes of chunksOf(file, options.signal)) hash.update(bytes);
          else hash.update(await readAt(file, 0, Math.min(size, START_BYTES)));
          const digest = hash.digest("base64");
          const same = found.get(digest);
          if (same === undefined) found.set(digest, [path]);
          else same.push(path);
        } finally {
          await file.handle.close();
        }
        options.done(1);
      }
      return [...found.values()].filter((same) => same.length > 1);
    }

    for (const [size, paths] of candidates) {
      if (size > left || options.isLate()) {
        isCut = true;
        continue;
      }
      for (const alike of await byHash(paths, size, size <= START_BYTES)) {
        if (size <= START_BYTES) groups.push({ size, paths: alike.sort(compareText) });
        else if (size * alike.length > left) isCut = true;
        else
          for (const same of await byHash(alike, size, true))
            groups.push({ size, paths: same.sort(compareText) });
      }
    }
    const waste = ({ size, paths }: DuplicateGroup) => size * (paths.length - 1);
    groups.sort((a, b) => waste(b) - waste(a) || compareText(a.paths[0] ?? "", b.paths[0] ?? ""));
    return { groups, wasted: groups.reduce((sum, group) => sum + waste(group), 0), isCut };
  }
}
