import type { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";

const MAX_GLOB = 1_000;
const MAX_GLOBS = 100;
/** How many alternatives braces and groups may have, multiplied. */
const MAX_ALTERNATIVES = 64;
/** How many wildcards may have several ways to match: to try all ways takes time with this exponent. */
const MAX_AMBIGUOUS = 4;

/**
 * Compiles a glob: a pattern without a slash matches names at any depth, one with a slash the path below the searched
 * directory; with a trailing slash, it matches only directories. Case-sensitive; the Unicode form (NFC, NFD) is
 * ignored.
 *
 * @throws ToolError `invalid` with the reason and the supported syntax
 */
export function compileGlob(glob: string) {
  if (glob.startsWith("!"))
    throw invalidGlob(glob, "It begins with an exclamation mark; use exclude patterns instead.");
  const pattern = glob.replace(/^(?:\.?\/)+/, "").replace(/\/+$/, "");
  const expression = compile(pattern, false);
  const hasSlash = pattern.includes("/") || /^\.?\//.test(glob);
  return {
    hasWildcard: /[*?[{]/.test(glob),
    /** @param path relative to the directory that is searched, with `/` between components; it ends in `name` */
    matches: (path: string, name: string, isDirectory: boolean) =>
      (isDirectory || !glob.endsWith("/")) &&
      expression.test((hasSlash ? path : name).normalize("NFC")),
  };
}

/**
 * Compiles globs that exclude entries (the official server's `excludePatterns`).
 *
 * @throws ToolError `invalid` for a glob that cannot be used, or more than 100
 */
export function compileExclusion(globs: readonly string[]) {
  if (globs.length > MAX_GLOBS)
    throw invalidGlob(globs[0] ?? "", `At most ${MAX_GLOBS} globs are allowed.`);
  const whole = globs.map(compileGlob);
  const contents = globs
    .filter((glob) => /[^\\]\/\*\*\/?$/.test(glob))
    .map((glob) => compileGlob(`/${glob.replace(/^\/|\/\*\*\/?$/g, "")}`));
  return {
    /** Whether the entry is excluded, and with it everything below it. */
    hides: (path: string, name: string, isDirectory: boolean) =>
      whole.some((glob) => glob.matches(path, name, isDirectory)),
    /** Whether everything below this directory is excluded (`vendor/**`), although the directory itself is not. */
    hidesContents: (path: string) => contents.some(({ matches }) => matches(path, path, true)),
  };
}

export type Exclusion = ReturnType<typeof compileExclusion>;

/** Whether a path contains anything that a capturing glob gives a meaning. */
export function hasWildcard(text: string): boolean {
  return /[*?[{\\]/.test(text);
}

/**
 * Compiles a glob that captures each `*`, `**`, `?` and `[…]`, except in braces.
 *
 * @returns the captured texts, or undefined if the text does not match
 * @throws ToolError `invalid` for a malformed glob
 */
export function compileCaptures(glob: string): (text: string) => string[] | undefined {
  const expression = compile(glob, true);
  return (text) =>
    expression
      .exec(text.normalize("NFC"))
      ?.slice(1)
      .map((capture = "") => capture);
}

const TOKEN =
  /\\(?<escaped>[\s\S])|\[(?<not>[!^]?)(?<members>\]?(?:\\[\s\S]|[^\]\\])*)\]|(?<deep>(?<![^/{,])\*\*+(?:\/|$|(?=[},])))|(?<star>\*+)|(?<single>\?)|[\s\S]/gu;

/** `*` and `?` stay within a component, `**` as a whole one matches any number; all match names that begin with a dot. */
function compile(glob: string, captures: boolean): RegExp {
  checkSyntax(glob);
  const pattern = glob.normalize("NFC");
  let depth = 0;
  const captured = (wildcard: string) => (captures && depth === 0 ? `(${wildcard})` : wildcard);
  const source = pattern.replace(TOKEN, (token: string, ...rest) => {
    const { escaped, not, members, deep, star, single }: Record<string, string> = rest.at(-1);
    if (escaped !== undefined) return literal(escaped);
    if (members !== undefined) return captured(`(?!/)[${not ? "^" : ""}${classOf(members)}]`);
    if (deep?.endsWith("/")) return `(?:${captured(".+")}/)?`;
    if (deep !== undefined) return captured(".*");
    if (star !== undefined) return captured("[^/]*");
    if (single !== undefined) return captured("[^/]");
    if (token === "\\") throw invalidGlob(glob, "It ends with a backslash.");
    if (token === "{" && hasAlternatives(pattern.slice(Number(rest.at(-3))))) {
      depth += 1;
      return "(?:";
    }
    if (depth === 0 || !/[,}]/.test(token)) return literal(token);
    if (token === "}") depth -= 1;
    return token === "}" ? ")" : "|";
  });
  try {
    return new RegExp(`^(?:${source})$`, "su");
  } catch {
    throw invalidGlob(glob, "A range in brackets is reversed.");
  }
}

const literal = (text: string) => text.replace(/[\\^$.|?*+()[\]{}/]/u, "\\$&");

const classOf = (members: string) =>
  members.replace(
    /\\([\s\S])|[[\]^&]/gu,
    (match, char = match) => `\\u{${char.codePointAt(0).toString(16)}}`,
  );

/** Whether a text that begins with a brace is `{a,b}`; any other brace is an ordinary character. */
function hasAlternatives(text: string): boolean {
  let [depth, commas] = [0, 0];
  for (const [token] of text.matchAll(/\\[\s\S]|[{},]/gu)) {
    if (token === "{") depth += 1;
    if (token === "," && depth === 1) commas += 1;
    if (token === "}" && --depth === 0) return commas > 0;
  }
  return false;
}

/** Refuses what is not supported, and patterns that could take forever: their expressions try all ways to match. */
function checkSyntax(glob: string): void {
  if (glob === "") throw invalidGlob(glob, "It is empty.");
  if (glob.length > MAX_GLOB)
    throw invalidGlob(glob, `It has ${glob.length} characters; at most ${MAX_GLOB} are allowed.`);
  if (/[@+?*!]\([^()]*\|/.test(glob))
    throw invalidGlob(glob, "Groups such as @(a|b) are not supported; write {a,b}.");
  if (/\{[^{},]+\.\.[^{},]+\}/.test(glob))
    throw invalidGlob(glob, "Ranges such as {1..3} are not supported; write {1,2,3}.");
  const alternatives = glob.match(/\{[^{}]*/g) ?? [];
  const product = alternatives.reduce((all, group) => all * group.split(",").length, 1);
  if (product > MAX_ALTERNATIVES) throw invalidGlob(glob, "It has too many alternatives.");
  const ambiguous = glob.split("/").map((part) => {
    const stars = part.match(/\*+/g) ?? [];
    return part === "**" ? 1 : Math.max(0, stars.length - 1);
  });
  if (ambiguous.reduce((sum, count) => sum + count, 0) > MAX_AMBIGUOUS)
    throw invalidGlob(glob, `It has too many stars; a name can have ${MAX_AMBIGUOUS + 1}.`);
}

/** The refusal of a glob; `reason` is a sentence. */
function invalidGlob(glob: string, reason: string): ToolError {
  const quoted = glob.length > 200 ? `${glob.slice(0, 200)}…` : glob;
  return failure("bad_glob", `The glob ${JSON.stringify(quoted)} is invalid. ${reason}`);
}
