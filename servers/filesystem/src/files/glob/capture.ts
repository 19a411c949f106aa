import { type CharacterTest, classEnd, classTest, invalidGlob } from "./pattern.ts";

const MAX_ALTERNATIVES = 200;
const MAX_GLOB = 1_000;

/** One piece of a flat pattern. `open` and `close` delimit a capture. */
type Token =
  | { readonly kind: "char"; readonly char: string }
  | { readonly kind: "one"; readonly test: CharacterTest }
  /** Any number of characters; `deep` ones may be slashes. */
  | { readonly kind: "many"; readonly deep: boolean }
  /** `**` and a slash: any number of whole components. */
  | { readonly kind: "components"; readonly capture: number | undefined }
  | { readonly kind: "open" | "close"; readonly capture: number };

const notSlash: CharacterTest = (code) => code !== 0x2f;

/** A group that captures; other parentheses are literal. */
const GROUP = /\([^()]*[*?[{|(]/;

/** Whether a path contains anything that a capturing glob gives a meaning. */
export function hasWildcard(text: string): boolean {
  return /[*?[{(\\]/.test(text);
}

/**
 * Compiles a glob that captures its groups `(…)`, in which `|` separates alternatives, or, if it has no groups, each `*`,
 * `**` and `?`. Parentheses without a wildcard in them are literal, because names such as "Invoice (1).pdf" are common.
 * `[…]` and `{a,b}` are not captured. Matching takes time proportional to the pattern's length times the text's, whatever
 * the pattern.
 *
 * @returns `count`: the number of captures; `match`: the captured texts, or undefined if the text does not match.
 * @throws ToolError `invalid` for a malformed glob.
 */
export function compileCaptures(glob: string) {
  if (glob.length > MAX_GLOB) throw invalidGlob(glob, `It has more than ${MAX_GLOB} characters.`);
  const normal = glob.normalize("NFC");
  let at = 0;
  let count = 0;
  let depth = 0;
  const hasGroups = GROUP.test(normal.replaceAll(/\\./g, "  "));
  const patterns = sequence("");
  return {
    count,
    match(text: string): string[] | undefined {
      const characters = text.normalize("NFC");
      for (const tokens of patterns) {
        const found = matchTokens(tokens, characters, count);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };

  /** All alternatives of the sequence up to one of `ends`, which is not consumed. */
  function sequence(ends: string): Token[][] {
    let found: Token[][] = [[]];
    while (at < normal.length && !ends.includes(normal.charAt(at))) {
      const pieces = piece();
      if (found.length * pieces.length > MAX_ALTERNATIVES)
        throw invalidGlob(glob, "It expands to too many alternatives.");
      found = found.flatMap((before) => pieces.map((one) => [...before, ...one]));
    }
    return found;
  }

  function piece(): Token[][] {
    const char = normal.charAt(at);
    if (char === "(") return isGroup() ? group() : literal();
    if (char === "{") return braces() ?? literal();
    if (char === "*") return stars();
    if (char === "?") {
      at += 1;
      return [captured([{ kind: "one", test: notSlash }])];
    }
    if (char === "[") return characterClass() ?? literal();
    if (char === "\\") {
      at += 1;
      if (at === normal.length) throw invalidGlob(glob, "It ends with a backslash.");
    }
    return literal();
  }

  function literal(): Token[][] {
    const char = String.fromCodePoint(normal.codePointAt(at) ?? 0);
    at += char.length;
    return [[{ kind: "char", char }]];
  }

  function captured(tokens: Token[]): Token[] {
    if (depth > 0 || hasGroups) return tokens;
    count += 1;
    return [{ kind: "open", capture: count }, ...tokens, { kind: "close", capture: count }];
  }

  function stars(): Token[][] {
    const begins = at === 0 || "/(|".includes(normal.charAt(at - 1));
    const start = at;
    while (normal.charAt(at) === "*") at += 1;
    const deep = at - start >= 2 && begins && "/)|".includes(normal.charAt(at));
    if (!deep || normal.charAt(at) !== "/") return [captured([{ kind: "many", deep }])];
    at += 1;
    const capture = depth > 0 || hasGroups ? undefined : ++count;
    return [[{ kind: "components", capture }]];
  }

  function characterClass(): Token[][] | undefined {
    const end = classEnd(normal, at);
    if (end === undefined) return undefined;
    const body = normal.slice(at + 1, end);
    const test = classTest(body);
    if (test === undefined) throw invalidGlob(glob, `The range in [${body}] is reversed.`);
    at = end + 1;
    return [[{ kind: "one", test }]];
  }

  function isGroup(): boolean {
    const text = normal.slice(at);
    return depth > 0 || !text.includes(")") || new RegExp(`^(?:${GROUP.source})`).test(text);
  }

  function group(): Token[][] {
    at += 1;
    const capture = depth === 0 ? ++count : undefined;
    depth += 1;
    const found = alternatives("|", ")");
    depth -= 1;
    if (found === undefined)
      throw invalidGlob(glob, "The group ( is not closed; write \\( for a parenthesis.");
    if (capture === undefined) return found;
    return found.map((one) => [{ kind: "open", capture }, ...one, { kind: "close", capture }]);
  }

  /** `{a,b}`; any other brace is an ordinary character. */
  function braces(): Token[][] | undefined {
    if (!/^\{[^{}]*,[^{}]*\}/.test(normal.slice(at))) return undefined;
    at += 1;
    return alternatives(",", "}");
  }

  function alternatives(separator: string, close: string): Token[][] | undefined {
    const found: Token[][] = [];
    for (;;) {
      found.push(...sequence(separator + close));
      const end = normal.charAt(at);
      at += 1;
      if (end === "") return undefined;
      if (end === close) return found;
    }
  }
}

/** Backtracks, but never tries the same rest of the pattern at the same place twice. */
function matchTokens(tokens: readonly Token[], text: string, count: number): string[] | undefined {
  const starts: number[] = [];
  const found = Array.from({ length: count }, () => "");
  const failed = new Set<number>();

  function from(index: number, at: number): boolean {
    const token = tokens[index];
    if (token === undefined) return at === text.length;
    const key = index * (text.length + 1) + at;
    if (failed.has(key)) return false;
    const done = take(token, index, at);
    if (!done) failed.add(key);
    return done;
  }

  function take(token: Token, index: number, at: number): boolean {
    switch (token.kind) {
      case "char":
        return text.startsWith(token.char, at) && from(index + 1, at + token.char.length);
      case "one": {
        const code = text.codePointAt(at);
        return (
          code !== undefined && token.test(code) && from(index + 1, at + (code > 0xffff ? 2 : 1))
        );
      }
      case "many": {
        let end = at;
        while (end < text.length && (token.deep || text.charAt(end) !== "/")) end += 1;
        for (; end >= at; end--) if (from(index + 1, end)) return true;
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
        found[token.capture - 1] = text.slice(start, at);
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
      if (capture !== undefined) found[capture - 1] = text.slice(at, Math.max(at, end - 1));
      return true;
    }
    return false;
  }

  return from(0, 0) ? found : undefined;
}
