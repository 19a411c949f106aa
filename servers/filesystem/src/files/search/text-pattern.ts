import type { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../messages.ts";
import { type Block, hasNeedles, type Needles } from "./text-blocks.ts";

/** What to search for in lines of text. Plain data, so that it can be sent to a worker. */
export interface TextPattern {
  readonly text: string;
  /** The source of a RegExp that is matched within one line. */
  readonly source: string;
  readonly flags: string;
  /** The same for a text of many lines, without matches across line ends; undefined if that is impossible. */
  readonly manyLines: string | undefined;
  /** The text itself, if the pattern is a case-sensitive literal, which can be found without a regex engine. */
  readonly literal: string | undefined;
  /** ASCII texts that every matching line contains: one of each list. */
  readonly needles: readonly (readonly string[])[];
}

const MAX_PATTERN = 1_000;

/** An escape, a character class, or a single character. */
const TOKEN = /\\.|\[\^?(?:\\.|[^\]\\])*\]|./gsu;
/** Escapes of other dialects that JavaScript treats as plain letters. */
const FOREIGN_ESCAPE = /^\\[aAeEGhHKlLNQRXyYzZ]/;
/**
 * A redundant prefix: `.*foo` and `foo` match the same lines, but a backtracking engine tries the former from every
 * character.
 */
const NEEDLESS_BEGIN = /^(?:\^?\.\*\??|(?:\\[wWdDsS]|\[\^?(?:\\.|[^\]\\])+\])\*\??)(?![?*+{])/;

/**
 * Checks and compiles a search pattern.
 *
 * @param text a JavaScript regular expression, or with `literal` plain text. It may begin with `(?i)`, and groups may
 * be named `(?P<name>…)`.
 * @param options.exact whether the extent of a match matters, not only whether a line matches.
 * @throws ToolError `invalid` for an expression that is malformed or cannot match within a line.
 */
export function textPattern(
  text: string,
  {
    literal,
    ignoreCase,
    exact = false,
  }: { literal: boolean; ignoreCase: boolean; exact?: boolean },
): TextPattern {
  const refuse = (reason: string) => refusal(text, reason, literal);
  if (text.length > MAX_PATTERN) {
    throw refuse(`It has ${text.length} characters; at most ${MAX_PATTERN} are allowed.`);
  }
  const inFront = literal ? null : /^\(\?([ims]+)\)/.exec(text);
  const rest = text.slice(inFront?.[0].length ?? 0);
  const tokens = literal
    ? Array.from(rest, escapeRegex)
    : (rest.replaceAll("(?P<", "(?<").match(TOKEN) ?? []);
  if (tokens.some((token) => token === "\n" || token === "\\n")) {
    throw refuse("It contains a line break, but lines are searched one by one.");
  }
  for (const token of tokens) {
    const foreign = literal ? undefined : FOREIGN_ESCAPE.exec(token)?.[0];
    if (foreign !== undefined) throw refuse(`The escape ${foreign} is not supported.`);
    if (/^\[.*\[:\^?[a-z]+:?\]$/s.test(token)) {
      throw refuse("Classes such as [:alpha:] are not supported; write [A-Za-z] or \\p{L}.");
    }
  }
  let source = tokens.join("");
  for (let before = ""; before !== source && !literal && !exact; ) {
    before = source;
    source = source.replace(NEEDLESS_BEGIN, "");
  }
  const folds = ignoreCase || inFront?.[1]?.includes("i") === true;
  const plain = literal || /^[A-Za-z0-9_ ]+$/.test(text);
  try {
    return {
      text,
      // A line has no line feed, and may end in a carriage return.
      source: source.replace(TOKEN, (token) => (token === "$" ? "(?=\\r?$)" : token)),
      flags: flagsFor(source, folds ? "i" : ""),
      manyLines: manyLines(source),
      literal: plain && !folds ? text : undefined,
      needles: folds ? [] : needlesOf(tokens),
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse(`${error.message.replace(/^Invalid regular expression: \/.*\/\w*: /s, "")}.`);
  }
}

/** Escapes whose meaning continues in the following tokens. */
const LONG_ESCAPE = /^\\[pPkxuc\d]/;

/** ASCII texts of an expression that every match contains, one of each list; those that are likely rare first. */
function needlesOf(tokens: readonly string[]): string[][] {
  if (tokens.some((token) => LONG_ESCAPE.test(token))) return [];
  const branches = branchesOf(tokens);
  const [only = []] = branches;
  if (branches.length === 1) return textsOf(only).map((text) => [text]);
  // Of each alternative, the longest text.
  const texts = branches.flatMap((branch) => textsOf(branch).slice(0, 1));
  return texts.length === branches.length ? [texts] : [];
}

/** The alternatives of an expression, also if it is a group as a whole: `a|b`, `(a|b)`. */
function branchesOf(tokens: readonly string[]): string[][] {
  const branches: string[][] = [[]];
  let depth = 0;
  for (const token of withoutGroup(tokens)) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (token === "|" && depth === 0) branches.push([]);
    else branches.at(-1)?.push(token);
  }
  return branches;
}

/** The content of a group that is the whole expression; otherwise the expression itself. */
function withoutGroup(tokens: readonly string[]): readonly string[] {
  const begin = tokens[1] !== "?" ? 1 : tokens[2] === ":" ? 3 : 0;
  if (tokens[0] !== "(" || begin === 0) return tokens;
  let depth = 0;
  const end = tokens.findIndex((token) => {
    depth += token === "(" ? 1 : token === ")" ? -1 : 0;
    return depth === 0;
  });
  return end === tokens.length - 1 ? tokens.slice(begin, -1) : tokens;
}

/** The ASCII texts of a sequence that every match contains, longest first. */
function textsOf(tokens: readonly string[]): string[] {
  const found: string[] = [];
  let run = "";
  let depth = 0;
  const end = () => {
    if (run !== "") found.push(run);
    run = "";
  };
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1] ?? "";
    const char = /^\\[!-/:-@[-`{-~]$/.test(token) ? token.slice(1) : token;
    const isLiteral = depth === 0 && (char !== token || /^[^\\.^$()[\]*+?{}|]$/.test(token));
    // Neither groups nor the numbers of a quantifier are taken.
    if (token === "(" || token === "{") depth += 1;
    if (token === ")" || token === "}") depth -= 1;
    if (isLiteral && /^[ -~]$/.test(char) && !/^[*?{]$/.test(next)) run += char;
    else end();
    if (next === "+") end();
  }
  end();
  return depth === 0 ? found.sort((a, b) => b.length - a.length) : [];
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

/** Unicode mode if the pattern is valid in it; a literal `\-` or `{` is not. */
function flagsFor(source: string, flags: string): string {
  try {
    new RegExp(source, `${flags}u`);
    return `${flags}u`;
  } catch (error) {
    if (/\\[pP]\{/.test(source)) throw error;
    new RegExp(source, flags);
    return flags;
  }
}

/** Many lines are matched at once if no match can begin in one and end in another. */
function manyLines(source: string): string | undefined {
  if (/\(\?<?[=!]/.test(source)) return undefined;
  const tokens = source.match(TOKEN) ?? [];
  // Too many classes can contain a line feed.
  const isUnclear = (token: string) =>
    /^\\[pPxuc0]/.test(token) || /^\[(?!\^).*(?:\\[^dw\W]|\p{Cc})/su.test(token);
  if (tokens.some(isUnclear)) return undefined;
  return tokens
    .map((token) => ONE_LINE[token] ?? token.replace(/^(\[\^.+)\]$/s, "$1\\n]"))
    .join("");
}

/** Equivalents that do not cross line ends. */
const ONE_LINE: Readonly<Record<string, string>> = {
  "\\s": "[^\\S\\n]",
  "\\D": "[^\\d\\n]",
  "\\W": "[^\\w\\n]",
  "^": "(?<![^\\n])",
  $: "(?=\\r?(?:\\n|$))",
};

function refusal(text: string, reason: string, literal: boolean): ToolError {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return failure("bad_pattern", `The pattern ${JSON.stringify(shown)} is invalid. ${reason}`, {
    hint: literal
      ? "Search for a part of the text that is on one line."
      : "Patterns are JavaScript regular expressions, matched line by line. To search for plain text, set literal=true.",
  });
}

export interface LineMatcher {
  /** ASCII texts that every matching line contains: one of each list. */
  readonly needles: Needles;
  /** The positions in the block's text at which matching lines begin, in order. */
  lines(block: Block): number[];
  /** The position of the first match in a line (without its line feed), in UTF-16 code units. */
  find(line: string): { start: number; end: number } | undefined;
  /** The texts of all matches in a line, without empty ones. */
  all(line: string): Iterable<string>;
}

/**
 * Creates a pattern's matcher, which uses V8's engine. Run it only where it can be terminated, since some patterns
 * never finish.
 */
export function lineMatcher({
  source,
  flags,
  manyLines,
  literal,
  needles: texts,
}: TextPattern): LineMatcher {
  const within = new RegExp(source, flags);
  const every = new RegExp(source, `${flags}g`);
  const anywhere = manyLines === undefined ? undefined : new RegExp(manyLines, `${flags}g`);
  const needles = texts.map((some) => some.map((text) => Buffer.from(text)));
  // Text that is not ASCII has other bytes in other encodings.
  const utf8 = literal === undefined ? [] : [[Buffer.from(literal)]];
  return {
    needles,
    lines(block) {
      // Most texts do not contain it, and need no decoding.
      if (!hasNeedles(block.bytes, block.isUtf8 && utf8.length > 0 ? utf8 : needles)) return [];
      if (literal !== undefined && literal !== "") {
        return linesWith(block.text, (text, from) => text.indexOf(literal, from));
      }
      if (anywhere === undefined) return lineByLine(block.text, within);
      return linesWith(block.text, (text, from) => {
        anywhere.lastIndex = from;
        return anywhere.exec(text)?.index ?? -1;
      });
    },
    find(line) {
      const match = within.exec(line);
      return match === null
        ? undefined
        : { start: match.index, end: match.index + match[0].length };
    },
    *all(line) {
      for (const [text] of line.matchAll(every)) if (text !== "") yield text;
    },
  };
}

/** @param next returns where the next match begins from an index on, or -1. */
function linesWith(text: string, next: (text: string, from: number) => number): number[] {
  const found: number[] = [];
  for (let from = 0; from < text.length; ) {
    const at = next(text, from);
    // An empty match after the last line feed is in no line.
    if (at < 0 || (at === text.length && text.endsWith("\n"))) break;
    found.push(at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1);
    const end = text.indexOf("\n", at);
    if (end < 0) break;
    from = end + 1;
  }
  return found;
}

function lineByLine(text: string, within: RegExp): number[] {
  const found: number[] = [];
  for (let at = 0; at < text.length; ) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    if (within.test(text.slice(at, end))) found.push(at);
    at = end + 1;
  }
  return found;
}
