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
  if (/[@+?*!]\([^()]*\|/.test(pattern))
    throw invalidGlob(glob, "Groups such as @(a|b) are not supported; write {a,b}.");
  if (/\{[^{},]+\.\.[^{},]+\}/.test(pattern))
    throw invalidGlob(glob, "Ranges such as {1..3} are not supported; write {1,2,3}.");
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
 * untrusted, and a row of stars keeps the backtracking expressions of picomatch and minimatch busy forever.
 *
 * @throws ToolError `invalid` with the reason, for a malformed glob
 */
export function compilePattern(glob: string, dialect: Dialect): (text: string) => boolean {
  const suffix = SUFFIX.exec(glob)?.[1];
  if (suffix !== undefined) return (text) => text.endsWith(suffix) && !text.includes("/");
  const prefix = PREFIX.exec(glob)?.[1];
  if (prefix !== undefined) return (text) => text.startsWith(prefix) && !text.includes("/");
  const { patterns } = parse(glob, dialect);
  return (text) => patterns.some((tokens) => endingsOf(tokens, text)[0]?.[0] === 1);
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
  /** Where braces without alternatives close, as in `{a,{b}}`. */
  const plain = new Set<number>();
  const hasGroups = GROUP.test(glob.replaceAll(/\\./g, "  "));
  const patterns = sequence("").map(joined);
  return { patterns, count };

  /** All alternatives of the sequence up to one of `ends`, which is not consumed. */
  function sequence(ends: string): Token[][] {
    let found: Token[][] = [[]];
    while (at < glob.length && (!ends.includes(glob.charAt(at)) || plain.has(at))) {
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
      if (commas === 0) plain.add(end);
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

/**
 * For each token, the positions of the text from which it and all tokens after it match the rest. Computed from the
 * end, so that every position is visited once for each token.
 */
function endingsOf(tokens: readonly Token[], text: string): Uint8Array[] {
  const { length } = text;
  let next = new Uint8Array(length + 1);
  next[length] = 1;
  const endings = [next];
  for (const token of tokens.toReversed()) {
    const after = next;
    if (token.kind === "open" || token.kind === "close") {
      endings.unshift(after);
      continue;
    }
    next = new Uint8Array(length + 1);
    // Whether one of the positions that a star can reach is an ending.
    let reached = 0;
    for (let at = length; at >= 0; at--) {
      if (token.kind === "text")
        next[at] = after[at + token.text.length] === 1 && text.startsWith(token.text, at) ? 1 : 0;
      else if (token.kind === "one") {
        const code = text.codePointAt(at);
        const isMatch = code !== undefined && after[at + widthOf(code)] === 1 && token.test(code);
        next[at] = isMatch ? 1 : 0;
      } else if (token.kind === "many") {
        if (!token.deep && text.charCodeAt(at) === SLASH) reached = 0;
        reached |= after[at] ?? 0;
        next[at] = reached;
      } else {
        if (text.charCodeAt(at) === SLASH) reached |= after[at + 1] ?? 0;
        next[at] = reached | (after[at] ?? 0);
      }
    }
    endings.unshift(next);
  }
  return endings;
}

const widthOf = (code: number) => (code > 0xffff ? 2 : 1);

/** The texts that a pattern captures; each wildcard takes as much as it can. Undefined if it does not match. */
function matchTokens(tokens: readonly Token[], text: string, count: number): string[] | undefined {
  const endings = endingsOf(tokens, text);
  if (endings[0]?.[0] !== 1) return undefined;
  const captures = Array.from({ length: count }, () => "");
  const starts: number[] = [];
  let at = 0;
  for (const [index, token] of tokens.entries()) {
    const after = endings[index + 1];
    if (token.kind === "text") at += token.text.length;
    else if (token.kind === "one") at += widthOf(text.codePointAt(at) ?? 0);
    else if (token.kind === "open") starts[token.capture] = at;
    else if (token.kind === "close")
      captures[token.capture - 1] = text.slice(starts[token.capture], at);
    else {
      const slash = token.kind === "many" && !token.deep ? text.indexOf("/", at) : -1;
      let end = slash < 0 ? text.length : slash;
      const isEnd = () => token.kind === "many" || end === at || text.charCodeAt(end - 1) === SLASH;
      while (end > at && !(after?.[end] === 1 && isEnd())) end -= 1;
      if (token.kind === "components" && token.capture !== undefined)
        captures[token.capture - 1] = text.slice(at, Math.max(at, end - 1));
      at = end;
    }
  }
  return captures;
}

/**
 * The ranges of each named class in a bracket expression, `[[:alpha:]]` (POSIX.1-2017 XCU 2.13.1 and gitignore(5)): pairs
 * of the first and the last character.
 */
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: "09AZaz",
  alpha: "AZaz",
  blank: "\t\t  ",
  cntrl: "\0\x1f\x7f\x7f",
  digit: "09",
  graph: "!~",
  lower: "az",
  print: " ~",
  punct: "!/:@[`{~",
  space: "\t\r  ",
  upper: "AZ",
  xdigit: "09AFaf",
};
const POSIX_CLASS = `\\[:(${Object.keys(POSIX_CLASSES).join("|")}):\\]`;
/** A bracket expression. A bracket in the first position is a member. */
const CLASS = new RegExp(
  `\\[[!^]?\\]?(?:${POSIX_CLASS}|\\\\.|(?!${POSIX_CLASS})[^\\]\\\\])*\\]`,
  "sy",
);
/** A named class, a character or a range; a backslash makes the next character literal. */
const MEMBER = new RegExp(`${POSIX_CLASS}|(?:\\\\(?=.))?(.)(?:-(?:\\\\(?=.))?(.))?`, "gsu");

/** Where the class that opens at `start` closes; undefined if it does not, so `[` is an ordinary character. */
function classEnd(glob: string, start: number): number | undefined {
  CLASS.lastIndex = start;
  return CLASS.test(glob) ? CLASS.lastIndex - 1 : undefined;
}

/** The test for the body of a class, which never accepts `/`; undefined if a range is reversed, `[z-a]`. */
function classTest(body: string): CharacterTest | undefined {
  const negated = /^[!^]/.test(body);
  const ranges: [first: number, last: number][] = [];
  for (const [, name, from = "", to = from] of body.slice(negated ? 1 : 0).matchAll(MEMBER)) {
    const pairs = name === undefined ? [from, to] : Array.from(POSIX_CLASSES[name] ?? "");
    for (let at = 0; at < pairs.length; at += 2)
      ranges.push([pairs[at]?.codePointAt(0) ?? 0, pairs[at + 1]?.codePointAt(0) ?? 0]);
  }
  if (ranges.some(([first, last]) => last < first)) return undefined;
  return (code) =>
    code !== SLASH && negated !== ranges.some(([first, last]) => first <= code && code <= last);
}

/** The refusal of a glob; `reason` is a sentence. */
function invalidGlob(glob: string, reason: string): ToolError {
  const shown = glob.length > 200 ? `${glob.slice(0, 200)}…` : glob;
  return failure("bad_glob", `The glob ${JSON.stringify(shown)} is invalid. ${reason}`);
}
