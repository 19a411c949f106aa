import { ToolError } from "@refmcp/boundary/answer";
import { compilePattern, HAS_FORMS } from "./pattern.ts";

/** One line of a `.gitignore`, parsed as in gitignore(5). */
export interface IgnoreLine {
  /** `!`: matches are not hidden. */
  readonly negated: boolean;
  /** `/` at the end. */
  readonly directoriesOnly: boolean;
  /**
   * Has a slash at the beginning or in the middle, so it is matched against the path below the file's directory, not
   * the name.
   */
  readonly anchored: boolean;
  /** The pattern without these markers. */
  readonly pattern: string;
}

/** The lines of a `.gitignore` or `.ignore` that contain rules, in NFC. */
export function parseIgnoreLines(text: string): IgnoreLine[] {
  const lines: IgnoreLine[] = [];
  for (const raw of text
    .replace(/^\uFEFF/, "")
    .normalize("NFC")
    .split("\n")) {
    const line = parseLine(raw.replace(/\r$/, ""));
    if (line !== undefined) lines.push(line);
  }
  return lines;
}

function parseLine(raw: string): IgnoreLine | undefined {
  if (raw.startsWith("#")) return undefined;
  let rest = withoutTrailingSpaces(raw);
  const negated = rest.startsWith("!");
  if (negated) rest = rest.slice(1);
  const directoriesOnly = rest.endsWith("/");
  if (directoriesOnly) rest = rest.slice(0, -1);
  const anchored = rest.includes("/");
  const pattern = rest.replace(/^\//, "");
  return pattern === "" ? undefined : { negated, directoriesOnly, anchored, pattern };
}

/** Trailing spaces count only after a backslash. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line.charAt(end - 1) === " " && !isEscaped(line, end - 1)) end -= 1;
  return line.slice(0, end);
}

/** Whether an odd number of backslashes precedes `at`. */
function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charAt(at - 1 - backslashes) === "\\") backslashes += 1;
  return backslashes % 2 === 1;
}

/**
 * The lines of an ignore file in a parent directory that apply below `directory`.
 *
 * @param directory components of the path from the lines' directory to the one below.
 */
export function linesBelow(lines: readonly IgnoreLine[], directory: readonly string[]): IgnoreLine[] {
  const below: IgnoreLine[] = [];
  for (const line of lines) {
    if (!line.anchored) {
      below.push(line);
      continue;
    }
    const components = line.pattern.split("/");
    for (const position of positionsAfter(components, directory)) {
      below.push({ ...line, pattern: components.slice(position).join("/") });
    }
  }
  return below;
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

interface Rule {
  readonly index: number;
  readonly directoriesOnly: boolean;
  matches(path: string, name: string): boolean;
}

/** The rules of one ignore file. */
export interface IgnoreRules {
  /**
   * The result of the last matching rule: true for hidden, false for shown (`!`), undefined if none matches. The
   * Unicode form of names (NFC, NFD) is ignored, as in git on macOS (core.precomposeUnicode).
   *
   * @param path below the file's directory, with `/` between components.
   */
  verdict(path: string, name: string, isDirectory: boolean): boolean | undefined;
}

/** Lines without wildcard characters. */
const LITERAL = /^[^*?[\\]+$/;

/**
 * Compiles the lines of an ignore file. Names without wildcards, which are most of them, are looked up. The others are
 * matched in linear time, since ignore files are untrusted: a row of double stars keeps a backtracking matcher busy
 * forever.
 */
export function compileIgnoreLines(lines: readonly IgnoreLine[]): IgnoreRules {
  const names = new LastIndex();
  const paths = new LastIndex();
  const rules: Rule[] = [];
  for (const [index, { pattern, anchored, directoriesOnly }] of lines.entries()) {
    if (LITERAL.test(pattern)) (anchored ? paths : names).add(pattern, directoriesOnly, index);
    else {
      const matches = anchored ? pathMatcher(pattern) : nameMatcher(pattern);
      if (matches !== undefined) rules.push({ index, directoriesOnly, matches });
    }
  }
  rules.reverse();
  const hasForms = lines.some(({ pattern }) => HAS_FORMS.test(pattern));
  return {
    verdict(storedPath, storedName, isDirectory) {
      const path = hasForms ? storedPath.normalize("NFC") : storedPath;
      const name = hasForms ? storedName.normalize("NFC") : storedName;
      let last = Math.max(names.of(name, isDirectory), paths.of(path, isDirectory));
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

/** For each name, the last line that contains it. */
class LastIndex {
  readonly #any = new Map<string, number>();
  readonly #directories = new Map<string, number>();

  add(text: string, directoriesOnly: boolean, index: number): void {
    (directoriesOnly ? this.#directories : this.#any).set(text, index);
  }

  of(text: string, isDirectory: boolean): number {
    const any = this.#any.get(text) ?? -1;
    return isDirectory ? Math.max(any, this.#directories.get(text) ?? -1) : any;
  }
}

function nameMatcher(pattern: string): Rule["matches"] | undefined {
  const matches = gitPattern(pattern);
  return matches && ((_, name) => matches(name));
}

function pathMatcher(pattern: string): Rule["matches"] | undefined {
  const matches = gitPattern(pattern);
  // For a rule that ends in a plain name, compare that first.
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  if (!LITERAL.test(last)) return matches;
  return matches && ((path, name) => name === last && matches(path));
}
