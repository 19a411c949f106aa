import { ToolError } from "@refmcp/boundary/answer";
import type { RE2JS } from "re2js";
import { classEnd, classSource } from "./glob-class.ts";

/**
 * A pattern whose matches depend on the Unicode form of accented letters (NFC, or NFD as on macOS), because it contains
 * such letters or counts characters. It is matched against text in NFC.
 */
export const HAS_FORMS = /[^\0-\x7f]|[?[]/;

/** Maximum characters of a translated pattern, since brace ranges can multiply it. */
const MAX_SOURCE = 50_000;
/** Maximum values of a `{1..9}` range. */
const MAX_RANGE = 1_000;
const RANGE = /^\{(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.(-?\d{1,9}))?\}/;

/**
 * Translates a glob to a regular expression for a linear-time engine (RE2, with "dot matches newline"), to be matched
 * against a whole path with `/` between components. `*` and `?` stay within a component, and `**` as a whole component
 * matches any number of them; all match names that begin with a dot.
 *
 * We have our own translation because picomatch and minimatch build backtracking expressions with lookaheads: some
 * patterns never finish (`+(+(a)b)…`, `*a*a*a*a*…`), and RE2 does not support lookaheads.
 *
 * @param dialect.groups whether it may contain `{a,b}`, `{1..9}`, and the groups of extended globs: `?(…)`, `*(…)`,
 * `+(…)`, `@(…)`.
 * @throws ToolError `invalid` with the reason, for a glob that cannot be translated.
 */
export function globSource(glob: string, dialect: { groups: boolean }): string {
  const parser = new GlobParser(glob, dialect.groups);
  return `^(?:${parser.sequence("")})$`;
}

class GlobParser {
  readonly #glob: string;
  readonly #groups: boolean;
  readonly #braces: Braces;
  #at = 0;
  #length = 0;

  constructor(glob: string, groups: boolean) {
    this.#glob = glob;
    this.#groups = groups;
    this.#braces = findBraces(glob);
  }

  /** Parses up to one of the characters in `ends`, which is not consumed. `begins`: whether a component begins here. */
  sequence(ends: string, begins = true): string {
    let source = "";
    let atBegin = begins;
    while (this.#at < this.#glob.length) {
      const char = this.#glob.charAt(this.#at);
      if (ends.includes(char) && !(char === "}" && this.#braces.plain.has(this.#at))) break;
      const piece = this.#piece(char, atBegin, ends);
      this.#count(piece.length);
      source += piece;
      atBegin = piece.endsWith("/") || piece.endsWith("/)*");
    }
    return source;
  }

  #piece(char: string, atBegin: boolean, ends: string): string {
    const next = this.#glob.charAt(this.#at + 1);
    if (this.#groups && next === "(" && "?*+@!".includes(char)) return this.#extended(char, atBegin);
    switch (char) {
      case "*":
        return this.#stars(atBegin, ends);
      case "?":
        this.#at += 1;
        return "[^/]";
      case "[":
        return this.#class();
      case "{":
        return this.#groups ? this.#brace(atBegin) : this.#literal();
      case "\\":
        if (next === "") throw this.#refusal("It ends with a backslash.");
        this.#at += 1;
        return this.#literal();
      default:
        return this.#literal();
    }
  }

  #literal(): string {
    const char = String.fromCodePoint(this.#glob.codePointAt(this.#at) ?? 0);
    this.#at += char.length;
    return escapeRegex(char);
  }

  #stars(atBegin: boolean, ends: string): string {
    const from = this.#at;
    while (this.#glob.charAt(this.#at) === "*") this.#at += 1;
    const next = this.#glob.charAt(this.#at);
    if (this.#at - from < 2 || !atBegin) return "[^/]*";
    if (next === "/") {
      this.#at += 1;
      return "(?:[^/]+/)*";
    }
    return next === "" || ends.includes(next) ? ".+" : "[^/]*";
  }

  #class(): string {
    const end = classEnd(this.#glob, this.#at);
    if (end === undefined) return this.#literal();
    const body = this.#glob.slice(this.#at + 1, end);
    const source = classSource(body);
    if (source === undefined) throw this.#refusal(`The range in [${body}] is reversed.`);
    this.#at = end + 1;
    return source;
  }

  /** `@(a|b)` and similar. */
  #extended(operator: string, atBegin: boolean): string {
    if (operator === "!")
      throw this.#refusal("A negated group, !(…), is not supported; use exclude patterns instead.");
    this.#at += 2;
    const source = this.#alternatives("|", ")", atBegin);
    if (source === undefined) throw this.#refusal(`The group ${operator}( is not closed.`);
    return operator === "@" ? source : source + operator;
  }

  /** `{a,b}` or `{1..9}`; any other brace is an ordinary character. */
  #brace(atBegin: boolean): string {
    if (this.#braces.groups.has(this.#at)) {
      this.#at += 1;
      return this.#alternatives(",", "}", atBegin) ?? "";
    }
    const range = RANGE.exec(this.#glob.slice(this.#at, this.#at + 64));
    if (range === null) return this.#literal();
    const [whole, from = "", to = "", step = "1"] = range;
    const values = this.#rangeValues(from, to, Math.abs(Number(step)) || 1);
    if (values === undefined) return this.#literal();
    this.#at += whole.length;
    return `(?:${values.map(escapeRegex).join("|")})`;
  }

  #rangeValues(from: string, to: string, step: number): string[] | undefined {
    const numeric = /\d/.test(from);
    if (numeric !== /\d/.test(to)) return undefined;
    const first = numeric ? Number(from) : from.charCodeAt(0);
    const last = numeric ? Number(to) : to.charCodeAt(0);
    const count = Math.floor(Math.abs(last - first) / step) + 1;
    if (count > MAX_RANGE)
      throw this.#refusal(
        `The range {${from}..${to}} has ${count} values; at most ${MAX_RANGE} are allowed.`,
      );
    const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
    return Array.from({ length: count }, (_, index) => {
      const value = first + (last < first ? -index : index) * step;
      if (!numeric) return String.fromCharCode(value);
      return value < 0 ? `-${String(-value).padStart(width - 1, "0")}` : String(value).padStart(width, "0");
    });
  }

  /** The alternatives of a group up to and including its closing character; undefined if that is missing. */
  #alternatives(separator: string, close: string, atBegin: boolean): string | undefined {
    const found: string[] = [];
    while (true) {
      found.push(this.sequence(separator + close, atBegin));
      const end = this.#glob.charAt(this.#at);
      this.#at += 1;
      if (end === close) return `(?:${found.join("|")})`;
      if (end !== separator) return undefined;
    }
  }

  #count(characters: number): void {
    this.#length += characters;
    if (this.#length > MAX_SOURCE) throw this.#refusal("It expands to too many alternatives.");
  }

  #refusal(reason: string): ToolError {
    return invalidGlob(this.#glob, reason);
  }
}

/** The refusal of a glob; `reason` is a sentence. */
export function invalidGlob(glob: string, reason: string): ToolError {
  const shown = glob.length > 200 ? `${glob.slice(0, 200)}…` : glob;
  return new ToolError("invalid", `The glob ${JSON.stringify(shown)} is invalid. ${reason}`, {
    hint: "Globs support * ? ** [a-z] {a,b} and @(a|b), as in src/**/*.{ts,tsx}; a backslash makes the next character literal.",
  });
}

/** Escapes `text` for a regular expression. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

/** Which braces of a glob form groups. Found in one pass, so that `{{{{…` takes linear time. */
interface Braces {
  /** Positions where a group with alternatives opens. */
  readonly groups: ReadonlySet<number>;
  /** Closing braces that do not end a group: `{b}` in `{a,{b}}`. */
  readonly plain: ReadonlySet<number>;
}

function findBraces(glob: string): Braces {
  const groups = new Set<number>();
  const plain = new Set<number>();
  const open: { at: number; kind: "{" | "("; commas: boolean }[] = [];
  for (let at = 0; at < glob.length; at++) {
    const char = glob.charAt(at);
    const top = open.at(-1);
    if (char === "\\") at += 1;
    else if (char === "[") at = classEnd(glob, at) ?? at;
    else if (char === "{") open.push({ at, kind: "{", commas: false });
    // The group of an extended glob, such as @(a|b).
    else if (char === "(" && at > 0 && "?*+@!".includes(glob.charAt(at - 1)))
      open.push({ at, kind: "(", commas: false });
    else if (char === "," && top?.kind === "{") top.commas = true;
    else if (char === "}" && top?.kind === "{") {
      open.pop();
      if (top.commas) groups.add(top.at);
      else plain.add(at);
    } else if (char === ")") {
      // Braces that are still open inside the parentheses are ordinary characters.
      const opening = open.findLastIndex(({ kind }) => kind === "(");
      if (opening >= 0) open.length = opening;
    }
  }
  return { groups, plain };
}

/** A regular expression that is matched in linear time (guaranteed by RE2), whatever the pattern. */
export interface LinearRegex {
  /** Whether it matches somewhere in `text`. */
  test(text: string): boolean;
}

let library: Promise<typeof RE2JS> | undefined;

/**
 * Compiles an expression in RE2's syntax, in which `.` also matches line ends. The engine is loaded on first use (about
 * 6 ms).
 *
 * @throws SyntaxError with RE2's reason for an invalid expression.
 */
export async function linearRegex(source: string): Promise<LinearRegex> {
  library ??= import("re2js").then((module) => module.RE2JS);
  const Engine = await library;
  try {
    return Engine.compile(source, Engine.DOTALL);
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? error.message : String(error));
  }
}
