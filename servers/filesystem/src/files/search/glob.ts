import type { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";

const MAX_GLOB = 1_000;
const MAX_GLOBS = 100;
const MAX_ALTERNATIVES = 200;

/**
 * A pattern whose matches depend on the Unicode form of accented letters (NFC, or NFD as on macOS), because it contains
 * such letters or counts characters. It is matched against text in NFC.
 */
export const HAS_FORMS = /[^\0-\x7f]|[?[]/;

/** Whether a class or wildcard accepts a character (a code point). */
type CharacterTest = (code: number) => boolean;

/** One piece of a flat pattern. `open` and `close` delimit a capture. */
type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "one"; readonly test: CharacterTest }
  /** Any number of characters; `deep` ones may be slashes. */
  | { readonly kind: "many"; readonly deep: boolean }
  /** `**` and a slash: any number of whole components. */
  | { readonly kind: "components"; readonly capture: number | undefined }
  | { readonly kind: "open" | "close"; readonly capture: number };

/**
 * What a pattern may contain besides `*`, `**`, `?`, `[…]` and escapes: nothing (as in gitignore(5)); braces, as in
 * `{a,b}`; or also groups that capture.
 */
type Dialect = "git" | "braces" | "captures";

const SLASH = 0x2f;
const notSlash: CharacterTest = (code) => code !== SLASH;
/** The most common patterns, `*.log` and `tmp*`, which need no tokens. */
const SUFFIX = /^\*([^*?[{}()\\/]+)$/;
const PREFIX = /^([^*?[{}()\\/]+)\*$/;
/** A group that captures; other parentheses are literal, because names such as "Invoice (1).pdf" are common. */
const GROUP = /\([^()]*[*?[{|(]/;

/**
 * Compiles a glob: a pattern without a slash matches names at any depth, one with a slash the path below the searched
 * directory; with a trailing slash, it matches only directories. Case-sensitive; the Unicode form (NFC, NFD) is
 * ignored.
 *
 * @throws ToolError `invalid` with the reason and the supported syntax
 */
export function compileGlob(glob: string) {
  const { matches, hasSlash, directoriesOnly } = compile(glob);
  return {
    hasWildcard: /[*?[{]/.test(glob),
    /** @param path relative to the directory that is searched, with `/` between components; it ends in `name` */
    matches: (path: string, name: string, isDirectory: boolean) =>
      (isDirectory || !directoriesOnly) && matches(hasSlash ? path : name),
  };
}

/**
 * Compiles globs that exclude entries (the official server's `excludePatterns`).
 *
 * @throws ToolError `invalid` for a glob that cannot be used, or more than 100
 */
export function compileExclusion(globs: readonly string[]) {
  if (globs.length > MAX_GLOBS)
    throw invalidGlob(
      globs[0] ?? "",
      `${globs.length} globs were given; at most ${MAX_GLOBS} are allowed.`,
    );
  const whole = globs.map(compileGlob);
  const contents = globs
    .filter((glob) => /[^\\]\/\*\*\/?$/.test(glob))
    .map((glob) => compile(`/${glob.replace(/^\/|\/\*\*\/?$/g, "")}`));
  return {
    /** Whether the entry is excluded, and with it everything below it. */
    hides: (path: string, name: string, isDirectory: boolean) =>
      whole.some((glob) => glob.matches(path, name, isDirectory)),
    /** Whether everything below this directory is excluded (`vendor/**`), although the directory itself is not. */
    hidesContents: (path: string) => contents.some(({ matches }) => matches(path)),
  };
}

export type Exclusion = ReturnType<typeof compileExclusion>;

function compile(glob: string) {
  if (glob.startsWith("!"))
    throw invalidGlob(glob, "It begins with an exclamation mark; use exclude patterns instead.");
  const pattern = glob.replace(/^(?:\.?\/)+/, "").replace(/\/+$/, "");
  if (pattern === "") throw invalidGlob(glob, "It is empty.");
  const matchesForm = compilePattern(pattern.normalize("NFC"), "braces");
  const hasForms = HAS_FORMS.test(pattern);
  return {
    matches: (text: string) => matchesForm(hasForms ? text.normalize("NFC") : text),
    hasSlash: pattern.includes("/") || /^\.?\//.test(glob),
    directoriesOnly: glob.endsWith("/"),
  };
}

/**
 * Compiles a pattern to a function that matches a whole path with `/` between components. `*` and `?` stay within a
 * component, and `**` as a whole component matches any number of them; all match names that begin with a dot.
 *
 * Matching takes time proportional to the pattern's length times the text's, whatever the pattern: ignore files are
 * untrusted, and a row of stars keeps the expressions of picomatch and minimatch busy forever.
 *
 * @throws ToolError `invalid` with the reason, for a malformed glob
 */
export function compilePattern(glob: string, dialect: Dialect): (text: string) => boolean {
  const suffix = SUFFIX.exec(glob)?.[1];
  if (suffix !== undefined) return (text) => text.endsWith(suffix) && !text.includes("/");
  const prefix = PREFIX.exec(glob)?.[1];
  if (prefix !== undefined) return (text) => text.startsWith(prefix) && !text.includes("/");
  const { patterns } = parse(glob, dialect);
  return (text) => patterns.some((tokens) => matchTokens(tokens, text, 0) !== undefined);
}

/** Whether a path contains anything that a capturing glob gives a meaning. */
export function hasWildcard(text: string): boolean {
  return /[*?[{(\\]/.test(text);
}

/**
 * Compiles a glob that captures its groups `(…)`, in which `|` separates alternatives, or, if it has no groups, each
 * `*`, `**` and `?`. `[…]` and `{a,b}` are not captured.
 *
 * @returns `count`: the number of captures; `match`: the captured texts, or undefined if the text does not match
 * @throws ToolError `invalid` for a malformed glob
 */
export function compileCaptures(glob: string) {
  const { patterns, count } = parse(glob.normalize("NFC"), "captures");
  return {
    count,
    match(text: string): string[] | undefined {
      const characters = text.normalize("NFC");
      for (const tokens of patterns) {
        const captures = matchTokens(tokens, characters, count);
        if (captures !== undefined) return captures;
      }
      return undefined;
    },
  };
}

/** Parses a glob to flat patterns, one for each combination of its alternatives. */
function parse(glob: string, dialect: Dialect) {
  if (glob.length > MAX_GLOB)
    throw invalidGlob(glob, `It has ${glob.length} characters; at most ${MAX_GLOB} are allowed.`);
  let at = 0;
  let count = 0;
  let depth = 0;
  const hasGroups = GROUP.test(glob.replaceAll(/\\./g, "  "));
  const patterns = sequence("").map(joined);
  return { patterns, count };

  /** All alternatives of the sequence up to one of `ends`, which is not consumed. */
  function sequence(ends: string): Token[][] {
    let found: Token[][] = [[]];
    while (at < glob.length && !ends.includes(glob.charAt(at))) {
      const pieces = piece();
      if (found.length * pieces.length > MAX_ALTERNATIVES)
        throw invalidGlob(glob, "It expands to too many alternatives.");
      found = found.flatMap((before) => pieces.map((one) => [...before, ...one]));
    }
    return found;
  }

  function piece(): Token[][] {
    const char = glob.charAt(at);
    if (char === "(" && dialect === "captures" && isGroup()) return group();
    if (char === "{" && dialect !== "git") return braces() ?? literal();
    if (char === "*") return stars();
    if (char === "?") {
      at += 1;
      return [captured({ kind: "one", test: notSlash })];
    }
    if (char === "[") return characterClass() ?? literal();
    if (char === "\\") {
      at += 1;
      if (at === glob.length) throw invalidGlob(glob, "It ends with a backslash.");
    }
    return literal();
  }

  function literal(): Token[][] {
    const text = String.fromCodePoint(glob.codePointAt(at) ?? 0);
    at += text.length;
    return [[{ kind: "text", text }]];
  }

  /** The number of the next capture, if single wildcards are captured. */
  function nextCapture(): number | undefined {
    if (dialect !== "captures" || depth > 0 || hasGroups) return undefined;
    count += 1;
    return count;
  }

  function captured(token: Token): Token[] {
    const capture = nextCapture();
    if (capture === undefined) return [token];
    return [{ kind: "open", capture }, token, { kind: "close", capture }];
  }

  function stars(): Token[][] {
    const isBegin = at === 0 || (depth > 0 ? "/(|{," : "/").includes(glob.charAt(at - 1));
    const start = at;
    while (glob.charAt(at) === "*") at += 1;
    const isEnd = (depth > 0 ? "/)|}," : "/").includes(glob.charAt(at)) || at === glob.length;
    const deep = at - start >= 2 && isBegin && isEnd;
    if (!deep || glob.charAt(at) !== "/") return [captured({ kind: "many", deep })];
    at += 1;
    return [[{ kind: "components", capture: nextCapture() }]];
  }

  function characterClass(): Token[][] | undefined {
    const end = classEnd(glob, at);
    if (end === undefined) return undefined;
    const body = glob.slice(at + 1, end);
    if (/\[:\w*:?$/.test(body))
      throw invalidGlob(glob, "Classes such as [:alpha:] are not supported; write [A-Za-z].");
    const test = classTest(body);
    if (test === undefined) throw invalidGlob(glob, `The range in [${body}] is reversed.`);
    at = end + 1;
    return [[{ kind: "one", test }]];
  }

  function isGroup(): boolean {
    const text = glob.slice(at);
    return depth > 0 || !text.includes(")") || new RegExp(`^(?:${GROUP.source})`).test(text);
  }

  function group(): Token[][] {
    at += 1;
    const capture = depth === 0 ? ++count : undefined;
    const found = alternatives("|", ")");
    if (found === undefined)
      throw invalidGlob(glob, "The group ( is not closed; write \\( for a parenthesis.");
    if (capture === undefined) return found;
    return found.map((one) => [{ kind: "open", capture }, ...one, { kind: "close", capture }]);
  }

  /** `{a,b}`; any other brace is an ordinary character. */
  function braces(): Token[][] | undefined {
    let [open, commas] = [0, 0];
    for (let end = at; end < glob.length; end++) {
      const char = glob.charAt(end);
      if (char === "\\") end += 1;
      if (char === "{") open += 1;
      if (char === "," && open === 1) commas += 1;
      if (char === "}") open -= 1;
      if (open > 0) continue;
      if (commas === 0) return undefined;
      at += 1;
      return alternatives(",", "}");
    }
    return undefined;
  }

  function alternatives(separator: string, close: string): Token[][] | undefined {
    const found: Token[][] = [];
    depth += 1;
    for (;;) {
      found.push(...sequence(separator + close));
      const end = glob.charAt(at);
      at += 1;
      if (end === separator) continue;
      depth -= 1;
      return end === close ? found : undefined;
    }
  }
}

/** Tokens with adjacent texts joined. */
function joined(tokens: readonly Token[]): Token[] {
  const result: Token[] = [];
  for (const token of tokens) {
    const last = result.at(-1);
    if (token.kind !== "text" || last?.kind !== "text") result.push(token);
    else result[result.length - 1] = { kind: "text", text: last.text + token.text };
  }
  return result;
}

/** Backtracks, but never tries the same rest of the pattern at the same place twice. */
function matchTokens(tokens: readonly Token[], text: string, count: number): string[] | undefined {
  const starts: number[] = [];
  const captures = Array.from({ length: count }, () => "");
  let failed: Set<number> | undefined;
  return from(0, 0) ? captures : undefined;

  function from(index: number, at: number): boolean {
    const token = tokens[index];
    if (token === undefined) return at === text.length;
    if (token.kind === "text")
      return text.startsWith(token.text, at) && from(index + 1, at + token.text.length);
    const key = index * (text.length + 1) + at;
    if (failed?.has(key)) return false;
    const isMatch = take(token, index, at);
    failed ??= new Set();
    if (!isMatch) failed.add(key);
    return isMatch;
  }

  function take(token: Exclude<Token, { kind: "text" }>, index: number, at: number): boolean {
    switch (token.kind) {
      case "one": {
        const code = text.codePointAt(at);
        const width = code !== undefined && code > 0xffff ? 2 : 1;
        return code !== undefined && token.test(code) && from(index + 1, at + width);
      }
      case "many": {
        const slash = token.deep ? -1 : text.indexOf("/", at);
        for (let end = slash < 0 ? text.length : slash; end >= at; end--)
          if (from(index + 1, end)) return true;
        return false;
      }
      case "components":
        return components(token.capture, index, at);
      case "open":
        starts[token.capture] = at;
        return from(index + 1, at);
      case "close": {
        const start = starts[token.capture] ?? at;
        if (!from(index + 1, at)) return false;
        captures[token.capture - 1] = text.slice(start, at);
        return true;
      }
    }
  }

  function components(capture: number | undefined, index: number, at: number): boolean {
    const ends = [at];
    for (let slash = text.indexOf("/", at); slash >= 0; slash = text.indexOf("/", slash + 1))
      ends.push(slash + 1);
    for (const end of ends.reverse()) {
      if (!from(index + 1, end)) continue;
      if (capture !== undefined) captures[capture - 1] = text.slice(at, Math.max(at, end - 1));
      return true;
    }
    return false;
  }
}

/** A bracket expression. A bracket in the first position is a member. */
const CLASS = /\[[!^]?(?:\]|\\.|[^\]\\])(?:\\.|[^\]\\])*\]/sy;
/** A character or a range; a backslash makes the next character literal. */
const MEMBER = /(?:\\(?=.))?(.)(?:-(?:\\(?=.))?(.))?/gsu;

/** Where the class that opens at `start` closes; undefined if it does not, so `[` is an ordinary character. */
function classEnd(glob: string, start: number): number | undefined {
  CLASS.lastIndex = start;
  return CLASS.test(glob) ? CLASS.lastIndex - 1 : undefined;
}

/** The test for the body of a class, which never accepts `/`; undefined if a range is reversed, `[z-a]`. */
function classTest(body: string): CharacterTest | undefined {
  const negated = /^[!^]/.test(body);
  const ranges = [...body.slice(negated ? 1 : 0).matchAll(MEMBER)].map(
    ([, from = "", to = from]) => [from.codePointAt(0) ?? 0, to.codePointAt(0) ?? 0] as const,
  );
  if (ranges.some(([first, last]) => last < first)) return undefined;
  return (code) =>
    code !== SLASH && negated !== ranges.some(([first, last]) => first <= code && code <= last);
}

/** The refusal of a glob; `reason` is a sentence. */
function invalidGlob(glob: string, reason: string): ToolError {
  const shown = glob.length > 200 ? `${glob.slice(0, 200)}…` : glob;
  return failure("bad_glob", `The glob ${JSON.stringify(shown)} is invalid. ${reason}`);
}
