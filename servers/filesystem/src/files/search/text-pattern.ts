import type { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";

/** What to search for in lines of text. Plain data, so that it can be sent to a thread. */
export interface TextPattern {
  readonly text: string;
  /** The source of a RegExp, and its flags without `g` and `m`. */
  readonly source: string;
  readonly flags: string;
  /** What every match contains and can be found without a regex engine; with the flag `i`, it is ASCII. */
  readonly needle: string;
  /** Whether a match is nothing else. */
  readonly isLiteral: boolean;
}

const MAX_PATTERN = 1_000;

/** An escape, a character class, or a single character. */
const TOKEN = /\\.|\[\^?(?:\\.|[^\]\\])*\]|./gsu;
/** Escapes of other dialects that JavaScript treats as plain letters. */
const FOREIGN_ESCAPE = /^\\[aAeEGhHKlLNQRXyYzZ]/;

const LINES_HINT = "Patterns are JavaScript regular expressions, matched line by line.";

/**
 * Checks a search pattern.
 *
 * @param text a JavaScript regular expression, or with `literal` plain text. It may begin with `(?i)`, and groups may
 *   be named `(?P<name>…)`.
 * @throws ToolError `invalid` for an expression that is malformed or cannot match within a line
 */
export function textPattern(
  text: string,
  { literal, ignoreCase }: { literal: boolean; ignoreCase: boolean },
): TextPattern {
  const hint = literal
    ? "Search for a part of the text that is on one line."
    : `${LINES_HINT} To search for plain text, set literal=true.`;
  const refuse = (reason: string) => refusal(text, reason, hint);
  const inFront = literal ? null : /^\(\?([ims]+)\)/.exec(text);
  const rest = text.slice(inFront?.[0].length ?? 0);
  const folds = ignoreCase || inFront?.[1]?.includes("i") === true;
  const tokens = literal ? (escaped(text).match(TOKEN) ?? []) : tokensOf(rest, refuse);
  const hasBreak = tokens.some(
    (token) => /^(?:\n|\\n)$/.test(token) || (literal && token === "\r"),
  );
  if (hasBreak) throw refuse("It contains a line break, but lines are searched one by one.");
  if (text.length > MAX_PATTERN)
    throw refuse(`It has ${text.length} characters; at most ${MAX_PATTERN} are allowed.`);
  const source = tokens.join("");
  const flags = flagsOf(source, folds ? "i" : "", refuse);
  const needle = textInEach(tokens, folds);
  return { text, source, flags, needle, isLiteral: needle !== "" && escaped(needle) === source };
}

/** The longest text that each match contains, perhaps none. @param isAscii whether it has to be ASCII */
function textInEach(tokens: readonly string[], isAscii: boolean): string {
  // Alternatives, groups, and characters that are written with several tokens.
  if (tokens.some((token) => /^(?:[|(]|\\[0-9ckpPux])/.test(token))) return "";
  const marked = tokens.map((token) => {
    const [, char] = /^(?:\\(?![A-Za-z0-9])(?=.)|(?![\\^$.|?*+()[\]{}\r]))(.)$/su.exec(token) ?? [];
    if (char !== undefined && (!isAscii || char <= "\x7f")) return char;
    return /^[*?{]$/.test(token) ? `\n${token}` : "\n";
  });
  // A quantifier may make the character before it optional.
  const runs = marked.join("").replace(/[^\n]?\n(?:[*?]|\{[^\n]*)/gu, "\n");
  return runs.split("\n").reduce((text, run) => (run.length < text.length ? text : run));
}

/**
 * The expression of an edit, for a text with LF line endings; it may match across lines.
 *
 * @throws ToolError `invalid` for one that is malformed
 */
export function editPattern(text: string): RegExp {
  const hint =
    "oldText is a JavaScript regular expression; ^ and $ match at line ends. To replace plain text, leave regex out.";
  const refuse = (reason: string) => refusal(text, reason, hint);
  const inFront = /^\(\?([ims]+)\)/.exec(text);
  const source = tokensOf(text.slice(inFront?.[0].length ?? 0), refuse).join("");
  const flags = inFront?.[1]?.replace(/m/g, "") ?? "";
  return new RegExp(source, `gm${flagsOf(source, flags, refuse)}`);
}

function tokensOf(text: string, refuse: (reason: string) => ToolError): string[] {
  const tokens = text.replaceAll("(?P<", "(?<").match(TOKEN) ?? [];
  for (const token of tokens) {
    const foreign = FOREIGN_ESCAPE.exec(token)?.[0];
    if (foreign !== undefined) throw refuse(`The escape ${foreign} is not supported.`);
    if (/^\[.*\[:\^?[a-z]+:?\]$/s.test(token))
      throw refuse("Classes such as [:alpha:] are not supported; write [A-Za-z] or \\p{L}.");
  }
  return tokens;
}

/** Unicode mode if the expression is valid in it; a literal `\-` or `{` is not. */
function flagsOf(source: string, flags: string, refuse: (reason: string) => ToolError): string {
  for (const allFlags of [`${flags}u`, flags]) {
    try {
      new RegExp(source, allFlags);
      return allFlags;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const isLast = allFlags === flags || /\\[pP]\{/.test(source);
      const reason = error.message.replace(/^Invalid regular expression: \/.*\/\w*: /s, "");
      if (isLast) throw refuse(`${reason}.`);
    }
  }
  return flags;
}

/** A text as the source of an expression that matches it. */
export function escaped(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

function refusal(text: string, reason: string, hint: string): ToolError {
  const quoted = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return failure("bad_pattern", `The pattern ${JSON.stringify(quoted)} is invalid. ${reason}`, {
    hint,
  });
}
