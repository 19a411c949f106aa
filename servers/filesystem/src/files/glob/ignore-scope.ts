import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { GuardedDirectory, GuardedFile, PathGuard } from "@refmcp/boundary";
import { orRefused, placeOf, withFile } from "../open-path.ts";
import { type Entry, FILE_FLAGS, type WalkedDirectory } from "../tree/open-below.ts";
import {
  compileIgnoreLines,
  type IgnoreLine,
  type IgnoreRules,
  linesBelow,
  parseIgnoreLines,
} from "./gitignore.ts";

/** Files with ignore rules. Later ones take precedence over earlier ones at any depth, as in ripgrep. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"];

/** Larger ignore files are not read, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** The rules of one file. */
interface Level {
  /** Its index in `IGNORE_FILES`; -1 for the rules from above the walk's start. */
  readonly kind: number;
  /** The length of the path prefix of its directory. */
  readonly skip: number;
  readonly rules: IgnoreRules;
}

/** The active rules in one directory of a walk. */
export class IgnoreScope {
  /** The highest precedence first. */
  readonly #levels: readonly Level[];

  private constructor(levels: readonly Level[]) {
    this.#levels = levels;
  }

  /**
   * The rules at `root` before its own ignore files are read: `extra` (patterns of the `--ignore` option) and the
   * ignore files of its parents up to the repository's root or the allowed directory. Rules further down take
   * precedence.
   */
  static async above(
    guard: PathGuard,
    root: GuardedDirectory,
    extra: readonly string[],
  ): Promise<IgnoreScope> {
    const lines = parseIgnoreLines(extra.join("\n"));
    for (const parent of await parentsOf(guard, root)) {
      const below = relative(parent, root.realPath).split(sep);
      for (const name of IGNORE_FILES) {
        lines.push(...linesBelow(await guardedLines(guard, join(parent, name)), below));
      }
    }
    return new IgnoreScope([{ kind: -1, skip: 0, rules: compileIgnoreLines(lines) }]);
  }

  /**
   * The rules for the entries of `directory`, after reading its own ignore files.
   *
   * @param prefix the directory's path below the walk's start, "" or ending in `/`.
   */
  enter(directory: WalkedDirectory, entries: readonly Entry[], prefix: string): IgnoreScope {
    const found: Level[] = [];
    for (const { name, type } of entries) {
      // Entries are sorted by name, so no ignore file can follow.
      if (name > ".rgignore") break;
      const kind = type === "file" ? IGNORE_FILES.indexOf(name) : -1;
      const text = kind === -1 ? undefined : readBounded(directory.entry(name));
      if (text === undefined) continue;
      found.push({ kind, skip: prefix.length, rules: compileIgnoreLines(parseIgnoreLines(text)) });
    }
    if (found.length === 0) return this;
    // Of the same kind, the deeper file stays first.
    return new IgnoreScope([...found, ...this.#levels].sort((a, b) => b.kind - a.kind));
  }

  /** @param path below the walk's start. */
  hides(path: string, name: string, isDirectory: boolean): boolean {
    for (const { skip, rules } of this.#levels) {
      const verdict = rules.verdict(skip === 0 ? path : path.slice(skip), name, isDirectory);
      if (verdict !== undefined) return verdict;
    }
    return false;
  }
}

/** The directories above `root`, outermost first, from the repository's root or the allowed directory on. */
async function parentsOf(guard: PathGuard, root: GuardedDirectory): Promise<string[]> {
  const top = root.directory.realPath;
  const parents: string[] = [];
  let path = root.realPath;
  while (path !== top && dirname(path) !== path && !(await isThere(guard, join(path, ".git")))) {
    path = dirname(path);
    parents.unshift(path);
  }
  return parents;
}

async function isThere(guard: PathGuard, path: string): Promise<boolean> {
  return (await placeOf(guard, path).catch(orRefused))?.stat !== undefined;
}

async function guardedLines(guard: PathGuard, path: string): Promise<IgnoreLine[]> {
  const read = async ({ handle }: GuardedFile) => readDescriptor(handle.fd);
  // A missing or unreadable file, or a link that leads outside, has no rules.
  const text = await withFile(guard, path, read).catch(orRefused);
  return text === undefined ? [] : parseIgnoreLines(text);
}

/** Never through a link, like git. */
function readBounded(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, FILE_FLAGS);
  } catch {
    return undefined;
  }
  try {
    return readDescriptor(fd);
  } finally {
    closeSync(fd);
  }
}

function readDescriptor(fd: number): string | undefined {
  const stat = fstatSync(fd);
  if (!stat.isFile() || stat.size > MAX_BYTES) return undefined;
  const buffer = Buffer.alloc(stat.size);
  let filled = 0;
  while (filled < buffer.length) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.toString("utf8", 0, filled);
}
