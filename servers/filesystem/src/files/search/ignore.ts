import { closeSync, fstatSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import {
  type GuardedDirectory,
  openBelow,
  type PathGuard,
  type WalkedDirectory,
  type WalkedEntry,
} from "@refmcp/boundary";
import ignore from "ignore";
import { orRefused, withFile } from "../open-path.ts";
import { escaped } from "./text-pattern.ts";

/** Files with ignore rules, by name; in a directory, later ones take precedence. */
const IGNORE_FILES = [".gitignore", ".ignore"];
const MAX_BYTES = 1024 * 1024;
/** A line with more stars in a name, or more `**`, has no effect: to match it can take forever, and it is foreign text. */
const MAX_STARS = 3;

/** True for hidden, false for shown (`!`), undefined if no rule matches; directories end in `/`. */
type Verdict = (path: string) => boolean | undefined;

/** The active rules in one directory of a walk. */
export interface IgnoreRules {
  /**
   * The rules for the entries of `directory`, after reading its own ignore files.
   *
   * @param prefix the directory's path below the walk's start, "" or ending in `/`
   */
  enter(directory: WalkedDirectory, entries: readonly WalkedEntry[], prefix: string): IgnoreRules;
  /** @param path below the walk's start */
  hides(path: string, isDirectory: boolean): boolean;
}

/** Compiles the lines of an ignore file (gitignore(5)); the Unicode form of names is ignored, as in git on macOS. */
function compileRules(text: string): Verdict {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .filter(isHarmless);
  const hasForms = /[^\0-\x7f]/.test(text);
  const form = (name: string) => (hasForms ? name.normalize("NFC") : name);
  const forms = lines.map(form);
  const rules = ignore({ ignorecase: false, allowRelativePaths: true }).add(forms);
  const mentions = mentioned(forms);
  return (path) => {
    const entry = form(path);
    // The library also applies what it knows of parents, but a walk has decided about those with the rules of all levels.
    if (!mentions(entry)) return undefined;
    const { ignored, unignored } = rules.test(entry);
    return ignored ? true : unignored ? false : undefined;
  };
}

/**
 * Whether any of the lines could match a path: one with a slash by its text before the first wildcard, the others by
 * their name. Most paths match none, and to try every rule takes microseconds.
 */
function mentioned(lines: readonly string[]): (path: string) => boolean {
  // The first expression matches nothing, in case there is no other.
  const starts = ["$."];
  const names = ["$."];
  const ends = ["$."];
  for (const line of lines.filter((text) => text.trim() !== "" && !text.startsWith("#"))) {
    const body = line.replace(/^!|\/?\s*$/g, "").replace(/^(?:\*\*\/)+(?=[^/]*$)/, "");
    if (body.includes("/")) starts.push(escaped(/^\/?([^*?[\\]*)/.exec(body)?.[1] ?? ""));
    else {
      const [plain = ""] = /^(?:[^?[\\]|\[\w+\])*/.exec(body) ?? [];
      const stars = escaped(plain).replace(/(?:\\\*)+/g, ".*");
      const source = stars.replace(/\\(\[\w+)\\/g, "$1");
      const whole = plain === body ? `${source}\\s*/?$` : source;
      if (whole.startsWith(".*")) ends.push(whole.slice(2));
      else names.push(`^${whole}`);
    }
  }
  const start = new RegExp(`^(?:${starts.join("|")})`);
  const [first, last] = [names, ends].map((sources) => new RegExp(sources.join("|"), "s"));
  return (path) => {
    const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1);
    return start.test(path) || first?.test(name) === true || last?.test(name) === true;
  };
}

function isHarmless(line: string): boolean {
  const parts = line.split("/");
  const isDeep = parts.filter((part) => part.includes("**")).length > MAX_STARS;
  return !isDeep && parts.every((part) => (part.match(/\*/g) ?? []).length <= MAX_STARS);
}

/**
 * The rules at `root` before its own ignore files are read: `extra` (patterns of the `--ignore` option) and the ignore
 * files of its parents up to the repository's root or the allowed directory, without lines that hide `root` itself.
 */
export async function ignoreRules(
  guard: PathGuard,
  root: GuardedDirectory,
  extra: readonly string[],
): Promise<IgnoreRules> {
  const levels: Verdict[] = [];
  for (const parent of await parentsOf(guard, root)) {
    const above = `${relative(parent, root.realPath).split(sep).join("/")}/`;
    // The caller has asked for what is in `root`, even if a rule hides it or a folder above it.
    const places = [...above.matchAll(/\//g)].map(({ index }) => above.slice(0, index + 1));
    const shows = (rules: string) => places.every((place) => compileRules(rules)(place) !== true);
    for (const name of IGNORE_FILES) {
      // A missing or unreadable file, or a link that leads outside, has no rules.
      const read = async ({ handle }: { handle: { fd: number } }) => textOf(handle.fd);
      const text = await withFile(guard, join(parent, name), read).catch(orRefused);
      const rules = text && !shows(text) ? text.split("\n").filter(shows).join("\n") : text;
      const verdict = rules && compileRules(rules);
      if (verdict) levels.unshift((path) => verdict(above + path));
    }
  }
  return rulesOf([...levels, compileRules(extra.join("\n"))]);
}

/** @param levels the highest precedence first */
function rulesOf(levels: readonly Verdict[]): IgnoreRules {
  return {
    enter(directory, entries, prefix) {
      const inner: Verdict[] = [];
      for (const { name, type } of entries) {
        const text =
          type === "file" && IGNORE_FILES.includes(name) ? readBelow(directory, name) : undefined;
        const verdict = text === undefined ? undefined : compileRules(text);
        if (verdict) inner.unshift((path) => verdict(path.slice(prefix.length)));
      }
      return inner.length === 0 ? this : rulesOf([...inner, ...levels]);
    },
    hides(path, isDirectory) {
      const text = isDirectory ? `${path}/` : path;
      for (const level of levels) {
        const isHidden = level(text);
        if (isHidden !== undefined) return isHidden;
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
