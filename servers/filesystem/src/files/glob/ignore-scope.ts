import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { GuardedDirectory, GuardedFile, PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { orRefused, placeOf, withFile } from "../open-path.ts";
import { type Entry, FILE_FLAGS, type WalkedDirectory } from "../tree/open-below.ts";
import { compilePattern, HAS_FORMS } from "./pattern.ts";

/** Files with ignore rules. Later ones take precedence over earlier ones at any depth, as in ripgrep. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"];

const MAX_BYTES = 1024 * 1024;

interface Level {
  /** Its index in `IGNORE_FILES`; -1 for the rules from above the walk's start. */
  readonly kind: number;
  /** The length of the path prefix of its directory. */
  readonly skip: number;
  readonly rules: ReturnType<typeof compileIgnoreLines>;
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
  // A file without a size may not end.
  if (!stat.isFile() || stat.size === 0 || stat.size > MAX_BYTES) return undefined;
  return readFileSync(fd, "utf8");
}

/** One line of a `.gitignore`, parsed as in gitignore(5). */
export interface IgnoreLine {
  /** `!`: matches are not hidden. */
  readonly negated: boolean;
  readonly directoriesOnly: boolean;
  /**
   * Has a slash at the beginning or in the middle, so it is matched against the path below the file's directory, not
   * the name.
   */
  readonly anchored: boolean;
  readonly pattern: string;
}

/** The lines of a `.gitignore` or `.ignore` that contain rules, in NFC. */
export function parseIgnoreLines(text: string): IgnoreLine[] {
  const lines = text
    .replace(/^\uFEFF/, "")
    .normalize("NFC")
    .split(/\r?\n/);
  return lines.flatMap((raw) => {
    if (raw.startsWith("#")) return [];
    let rest = withoutTrailingSpaces(raw.replace(/\r$/, ""));
    const negated = rest.startsWith("!");
    if (negated) rest = rest.slice(1);
    const directoriesOnly = rest.endsWith("/");
    if (directoriesOnly) rest = rest.slice(0, -1);
    const anchored = rest.includes("/");
    const pattern = rest.replace(/^\//, "");
    return pattern === "" ? [] : [{ negated, directoriesOnly, anchored, pattern }];
  });
}

/** Trailing spaces count only after a backslash, unless that is escaped itself. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line.charAt(end - 1) === " ") end -= 1;
  let backslashes = 0;
  while (line.charAt(end - 1 - backslashes) === "\\") backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

/**
 * The lines of an ignore file in a parent directory that apply below `directory`.
 *
 * @param directory components of the path from the lines' directory to the one below.
 */
export function linesBelow(
  lines: readonly IgnoreLine[],
  directory: readonly string[],
): IgnoreLine[] {
  return lines.flatMap((line) => {
    if (!line.anchored) return [line];
    const components = line.pattern.split("/");
    const positions = positionsAfter(components, directory);
    return positions.map((at) => ({ ...line, pattern: components.slice(at).join("/") }));
  });
}

/** The positions in a pattern's components after matching `directory`, except the end. */
function positionsAfter(components: readonly string[], directory: readonly string[]): number[] {
  let positions = new Set([0]);
  for (const name of directory) {
    const next = new Set<number>();
    for (const start of positions) {
      for (let at = start; at < components.length; at++) {
        const component = components[at] ?? "";
        if (component === "**") next.add(at);
        else {
          if (gitPattern(component)?.(name.normalize("NFC"))) next.add(at + 1);
          break;
        }
      }
    }
    positions = next;
  }
  return [...positions].filter((at) => at < components.length).sort((a, b) => a - b);
}

/**
 * Undefined for a pattern that git accepts but that matches nothing, such as one with a trailing backslash.
 */
function gitPattern(pattern: string): ((text: string) => boolean) | undefined {
  try {
    return compilePattern(pattern, { groups: false });
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return undefined;
  }
}

type Matches = (path: string, name: string) => boolean;

const LITERAL = /^[^*?[\\]+$/;

/**
 * Compiles the lines of an ignore file. Names without wildcards, which are most of them, are looked up. The others are
 * matched in linear time, since ignore files are untrusted: a row of double stars keeps a backtracking matcher busy
 * forever.
 */
export function compileIgnoreLines(lines: readonly IgnoreLine[]) {
  // For each name or path, the last line that contains it; with a slash at the end, only for directories.
  const names = new Map<string, number>();
  const paths = new Map<string, number>();
  const indexOf = (map: ReadonlyMap<string, number>, text: string, isDirectory: boolean) =>
    Math.max(map.get(text) ?? -1, isDirectory ? (map.get(`${text}/`) ?? -1) : -1);
  const rules: { index: number; directoriesOnly: boolean; matches: Matches }[] = [];
  for (const [index, { pattern, anchored, directoriesOnly }] of lines.entries()) {
    if (LITERAL.test(pattern))
      (anchored ? paths : names).set(pattern + (directoriesOnly ? "/" : ""), index);
    else {
      const matches = matcherOf(pattern, anchored);
      if (matches !== undefined) rules.push({ index, directoriesOnly, matches });
    }
  }
  rules.reverse();
  const hasForms = lines.some(({ pattern }) => HAS_FORMS.test(pattern));
  return {
    /**
     * The result of the last matching rule: true for hidden, false for shown (`!`), undefined if none matches. The
     * Unicode form of names (NFC, NFD) is ignored, as in git on macOS (core.precomposeUnicode).
     *
     * @param storedPath below the file's directory, with `/` between components.
     */
    verdict(storedPath: string, storedName: string, isDirectory: boolean): boolean | undefined {
      const path = hasForms ? storedPath.normalize("NFC") : storedPath;
      const name = hasForms ? storedName.normalize("NFC") : storedName;
      let last = Math.max(indexOf(names, name, isDirectory), indexOf(paths, path, isDirectory));
      for (const rule of rules) {
        if (rule.index < last) break;
        if ((isDirectory || !rule.directoriesOnly) && rule.matches(path, name)) {
          last = rule.index;
          break;
        }
      }
      const line = lines[last];
      return line === undefined ? undefined : !line.negated;
    },
  };
}

function matcherOf(pattern: string, anchored: boolean): Matches | undefined {
  const matches = gitPattern(pattern);
  if (matches === undefined) return undefined;
  if (!anchored) return (_, name) => matches(name);
  // For a rule that ends in a plain name, compare that first.
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  return LITERAL.test(last) ? (path, name) => name === last && matches(path) : matches;
}
