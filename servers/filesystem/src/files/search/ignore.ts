import { closeSync, fstatSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import {
  type GuardedDirectory,
  openBelow,
  type PathGuard,
  type WalkedDirectory,
  type WalkedEntry,
} from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { orRefused, withFile } from "../open-path.ts";
import { compilePattern, HAS_FORMS } from "./glob.ts";

/** Files with ignore rules. Later ones take precedence over earlier ones at any depth, as in ripgrep. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"];
const MAX_BYTES = 1024 * 1024;

type Verdict = ReturnType<typeof compileIgnoreLines>["verdict"];

/** The rules of one ignore file. */
interface Level {
  /** Its index in `IGNORE_FILES`; -1 for the `--ignore` option. */
  readonly kind: number;
  /** The path from its directory to the walk's start, ending in `/`; empty if it is not above it. */
  readonly above: string;
  /** The length of the path from the walk's start to its directory. */
  readonly skip: number;
  readonly verdict: Verdict;
}

/** The active rules in one directory of a walk. */
export interface IgnoreRules {
  /**
   * The rules for the entries of `directory`, after reading its own ignore files.
   *
   * @param prefix the directory's path below the walk's start, "" or ending in `/`
   */
  enter(directory: WalkedDirectory, entries: readonly WalkedEntry[], prefix: string): IgnoreRules;
  /** @param path below the walk's start */
  hides(path: string, name: string, isDirectory: boolean): boolean;
}

/**
 * The rules at `root` before its own ignore files are read: `extra` (patterns of the `--ignore` option) and the ignore
 * files of its parents up to the repository's root or the allowed directory. Rules further down take precedence.
 */
export async function ignoreRules(
  guard: PathGuard,
  root: GuardedDirectory,
  extra: readonly string[],
): Promise<IgnoreRules> {
  const { verdict } = compileIgnoreLines(extra.join("\n"));
  const levels: Level[] = [{ kind: -1, above: "", skip: 0, verdict }];
  for (const parent of await parentsOf(guard, root)) {
    const above = `${relative(parent, root.realPath).split(sep).join("/")}/`;
    for (const [kind, name] of IGNORE_FILES.entries()) {
      // A missing or unreadable file, or a link that leads outside, has no rules.
      const read = ({ handle }: { handle: { fd: number } }) => Promise.resolve(textOf(handle.fd));
      const text = await withFile(guard, join(parent, name), read).catch(orRefused);
      if (text !== undefined)
        levels.unshift({ kind, above, skip: 0, verdict: compileIgnoreLines(text).verdict });
    }
  }
  return rulesOf(sorted(levels));
}

/** Of the same kind, the deeper file stays first. */
const sorted = (levels: readonly Level[]) => [...levels].sort((a, b) => b.kind - a.kind);

/** @param levels the highest precedence first */
function rulesOf(levels: readonly Level[]): IgnoreRules {
  return {
    enter(directory, entries, prefix) {
      const found: Level[] = [];
      for (const { name, type } of entries) {
        // Entries are sorted by name, so no ignore file can follow.
        if (name > ".rgignore") break;
        const kind = type === "file" ? IGNORE_FILES.indexOf(name) : -1;
        const text = kind === -1 ? undefined : readBelow(directory, name);
        if (text === undefined) continue;
        const { verdict } = compileIgnoreLines(text);
        found.push({ kind, above: "", skip: prefix.length, verdict });
      }
      return found.length === 0 ? this : rulesOf(sorted([...found, ...levels]));
    },
    hides(path, name, isDirectory) {
      for (const { above, skip, verdict } of levels) {
        const below = skip === 0 ? path : path.slice(skip);
        const hidden = verdict(above === "" ? below : above + below, name, isDirectory);
        if (hidden !== undefined) return hidden;
      }
      return false;
    },
  };
}

/** The directories above `root`, outermost first, from the repository's root or the allowed directory on. */
async function parentsOf(guard: PathGuard, root: GuardedDirectory): Promise<string[]> {
  const top = root.directory.realPath;
  const isThere = (path: string) => guard.exists(path).catch(orRefused);
  const parents: string[] = [];
  let path = root.realPath;
  while (path !== top && dirname(path) !== path && !(await isThere(join(path, ".git")))) {
    path = dirname(path);
    parents.unshift(path);
  }
  return parents;
}

/** Never through a link, like git. */
function readBelow(directory: WalkedDirectory, name: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openBelow(directory.entry(""), name);
    return fd === undefined ? undefined : textOf(fd);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function textOf(fd: number): string | undefined {
  const stat = fstatSync(fd);
  // A file without a size may not end.
  if (!stat.isFile() || stat.size === 0 || stat.size > MAX_BYTES) return undefined;
  return readFileSync(fd, "utf8");
}

/** One line of a `.gitignore`, parsed as in gitignore(5). */
interface IgnoreLine {
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
function parseIgnoreLines(text: string): IgnoreLine[] {
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

type Matches = (path: string, name: string) => boolean;

const LITERAL = /^[^*?[\\]+$/;

/** Compiles the lines of an ignore file. Names without wildcards, which are most of them, are looked up. */
export function compileIgnoreLines(text: string) {
  const lines = parseIgnoreLines(text);
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
     * @param storedPath below the file's directory, with `/` between components
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

/** Undefined for a pattern that git accepts but that matches nothing here, such as one with a trailing backslash. */
function matcherOf(pattern: string, anchored: boolean): Matches | undefined {
  let matches: (text: string) => boolean;
  try {
    matches = compilePattern(pattern, "git");
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return undefined;
  }
  if (!anchored) return (_, name) => matches(name);
  // For a rule that ends in a plain name, compare that first.
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  return LITERAL.test(last) ? (path, name) => name === last && matches(path) : matches;
}
