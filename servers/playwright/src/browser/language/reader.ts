import { nearest } from "@refmcp/boundary/answer";
import { RE2JS } from "re2js";
import type { NumberComparison, RequestPattern, TextComparison } from "./ast.ts";

/** A sentence that cannot be parsed: the position, what was expected there, and a valid example. */
export class LanguageError extends Error {
  override readonly name = "LanguageError";
  readonly at: number;
  readonly expected: string;
  readonly example: string;

  constructor(at: number, expected: string, example: string) {
    super(`expected ${expected}`);
    this.at = at;
    this.expected = expected;
    this.example = example;
  }
}

const QUOTES: Readonly<Record<string, string>> = { "'": "'", '"': '"', "“": "”", "‘": "’" };

export class Reader {
  readonly text: string;
  at = 0;
  /** A valid sentence of the form that is being parsed, for messages. */
  example = "";

  constructor(text: string) {
    this.text = text;
    this.skipSpace();
  }

  /** From now on, messages show this example. */
  like(example: string): this {
    this.example = example;
    return this;
  }

  get rest(): string {
    return this.text.slice(this.at);
  }

  get atEnd(): boolean {
    return this.at >= this.text.length;
  }

  skipSpace(): void {
    while (/\s/.test(this.text.charAt(this.at))) this.at += 1;
  }

  /** Consumes the first of the phrases that comes next: whole words, in any letter case. */
  takesOneOf<Phrase extends string>(phrases: readonly Phrase[]): Phrase | undefined {
    return phrases.find((phrase) => {
      const pattern = `^${phrase.split(" ").map(escaped).join("\\s+")}(?![\\w-])`;
      return this.takesPattern(new RegExp(pattern, "i")) !== undefined;
    });
  }

  takes(...phrases: string[]): boolean {
    return this.takesOneOf(phrases) !== undefined;
  }

  /** Consumes one of the phrases, which must come next. */
  needs(expected: string, ...phrases: string[]): void {
    if (!this.takes(...phrases)) throw this.error(expected);
  }

  /** Consumes what the pattern (anchored at its beginning) matches here. */
  takesPattern(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.rest);
    if (found === null || found.index !== 0) return undefined;
    this.at += found[0].length;
    this.skipSpace();
    return found;
  }

  isAtString(): boolean {
    return QUOTES[this.text.charAt(this.at)] !== undefined;
  }

  /** A quoted text; the quote and the backslash are escaped with a backslash; `\n` and `\t` work too. */
  string(expected = "a text in quotes", example = this.example): string {
    const close = QUOTES[this.text.charAt(this.at)];
    if (close === undefined) throw this.error(expected, this.at, example);
    const start = this.at;
    let value = "";
    for (let i = start + 1; i < this.text.length; i++) {
      const letter = this.text.charAt(i);
      if (letter === close) {
        this.at = i + 1;
        this.skipSpace();
        return value;
      }
      if (letter === "\\" && i + 1 < this.text.length) {
        i += 1;
        const next = this.text.charAt(i);
        value += next === "n" ? "\n" : next === "t" ? "\t" : next;
      } else value += letter;
    }
    throw this.error(`a closing ${close} for the text that begins here`, start, example);
  }

  checked(expected: string, isValid: (text: string) => boolean, example = this.example): string {
    const start = this.at;
    const text = this.string(undefined, example);
    if (!isValid(text)) throw this.error(expected, start, example);
    return text;
  }

  word(): string | undefined {
    return this.isAtString() ? this.string() : this.takesPattern(/\S+/)?.[0];
  }

  strings(): string[] {
    const all = [this.string()];
    while (this.takesPattern(/,/) !== undefined || this.takes("and")) all.push(this.string());
    return all;
  }

  error(expected: string, at = this.at, example = this.example): LanguageError {
    return new LanguageError(at, expected, example);
  }

  /** What was expected, with a suggestion if one of `words` is similar to the next word. */
  unknownWord(expected: string, words: readonly string[], example = this.example): LanguageError {
    const heads = [/^[\w-]+\s+[\w-]+/, /^[\w-]+/].flatMap((head) => head.exec(this.rest)?.[0] ?? []);
    const near = heads.flatMap((head) => nearest(head, words, 1))[0];
    return this.error(
      near === undefined ? expected : `${expected} (did you mean ${near}?)`,
      this.at,
      example,
    );
  }
}

export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

const TEXT_EXAMPLE = "h1 contains 'Docs'";
const COMPARING = [
  ["is", "is"],
  ["equals", "is"],
  ["equal", "is"],
  ["contains", "contains"],
  ["contain", "contains"],
  ["matches", "matches"],
  ["match", "matches"],
] as const;

/** `["not" | "does not" | "is not"] ("is" STR | "contains" STR | "matches" /RE/flags)`, or undefined. */
export function textComparison(reader: Reader): TextComparison | undefined {
  const start = reader.at;
  let negated = reader.takes("does not", "doesn't", "not");
  const how = COMPARING.find(([word]) => reader.takes(word))?.[1];
  if (how === "matches") return { how, ...pattern(reader), negated };
  if (how === "is" && reader.takes("not")) negated = !negated;
  if (how === "contains" || (how === "is" && reader.isAtString()))
    return { how, value: reader.string(undefined, TEXT_EXAMPLE), flags: "", negated };
  reader.at = start;
  return undefined;
}

/** A pattern between slashes, in RE2's syntax. */
function pattern(reader: Reader): { value: string; flags: string } {
  const example = "title matches /^Docs/i";
  const start = reader.at;
  const found = reader.takesPattern(
    /\/((?:[^/\\[\n\r\u2028\u2029]|\\.|\[(?:[^\]\\\n\r\u2028\u2029]|\\.)*\])+)\/([a-z]*)/,
  );
  if (found === undefined) throw reader.error("a pattern between slashes", start, example);
  const [, value = "", flags = ""] = found;
  if (/[^imsu]/.test(flags)) throw reader.error("only the flags i, m, s and u", start, example);
  try {
    compiled(value, flags);
    // An exported pattern runs in JavaScript, which does not know RE2's (?i).
    new RegExp(value, flags);
  } catch {
    const expected = "a pattern that both JavaScript and RE2 support (no look-around and no back-references)";
    throw reader.error(expected, start, example);
  }
  return { value, flags };
}

/** A pattern as RE2, which runs in linear time. */
function compiled(source: string, flags: string): RE2JS {
  let bits = 0;
  if (flags.includes("i")) bits |= RE2JS.CASE_INSENSITIVE;
  if (flags.includes("m")) bits |= RE2JS.MULTILINE;
  if (flags.includes("s")) bits |= RE2JS.DOTALL;
  return RE2JS.compile(RE2JS.translateRegExp(source), bits);
}

/** A text as a reader sees it: trimmed, with single spaces. */
export function spaced(text: string): string {
  return text.replace(/[\s\u200b]+/g, " ").trim();
}

const NUMBER_WORDS = [
  ["at least", ">="],
  ["at most", "<="],
  ["more than", ">"],
  ["less than", "<"],
] as const;
const SIGNS = [">=", "<=", ">", "<"] as const;

/** `["is" | "at least" | "at most" | "more than" | "less than" | ">=" …] INT`. */
export function numberComparison(reader: Reader): NumberComparison {
  const isEqual = reader.takes("is");
  const words = NUMBER_WORDS.find(([phrase]) => reader.takes(phrase));
  const needsSign = words === undefined && !isEqual && !reader.takes("equals");
  const sign = needsSign ? reader.takesPattern(/>=|<=|>|<|==?/)?.[0] : undefined;
  const value = reader.takesPattern(/\d{1,9}(?![\w.])/);
  if (value === undefined) throw reader.error("a whole number, or at least, at most and a number");
  return { how: words?.[1] ?? SIGNS.find((one) => one === sign) ?? "=", value: Number(value[0]) };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** `500ms`, `2s`, `1.5 s`, `1m` in milliseconds. */
export function duration(reader: Reader): number {
  const found = reader.takesPattern(/(\d+(?:\.\d+)?)\s*(ms|s|m)(?!\w)/i);
  const milliseconds = Number(found?.[1]) * (UNITS[found?.[2]?.toLowerCase() ?? ""] ?? Number.NaN);
  if (!(milliseconds > 0 && milliseconds <= 600_000))
    throw reader.error("a time such as 500ms or 2s, at most 10m");
  return milliseconds;
}

const SIZES: Readonly<Record<string, number>> = { b: 1, kb: 1e3, kib: 1024, mb: 1e6, mib: 1024 * 1024 };

/** `300 kB`, `2 MB`, `1 MiB` in bytes. */
export function size(reader: Reader): number {
  const found = reader.takesPattern(/(\d+(?:\.\d+)?)\s*(b|kb|kib|mb|mib)(?!\w)/i);
  const bytes = Number(found?.[1]) * (SIZES[found?.[2]?.toLowerCase() ?? ""] ?? Number.NaN);
  if (!(bytes > 0)) throw reader.error("a size such as 500 kB or 2 MB");
  return bytes;
}

/** `200`, or `2xx` for 200 to 299. */
export function statusRange(reader: Reader): { from: number; to: number } {
  const found = reader.takesPattern(/([1-5])(\d\d|xx)(?!\w)/i);
  if (found === undefined) throw reader.error("a status such as 200 or 2xx");
  const [, first = "", tail = ""] = found;
  return tail.toLowerCase() === "xx"
    ? { from: Number(first) * 100, to: Number(first) * 100 + 99 }
    : { from: Number(first + tail), to: Number(first + tail) };
}

/** `["POST"] GLOB`: `*` in a quoted or bare glob is within a part of the path, `**` across parts. */
export function requestPattern(reader: Reader, takesMethod = true): RequestPattern {
  const method = takesMethod
    ? reader.takesPattern(/(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)(?=\s)/)?.[0]
    : undefined;
  const glob = reader.word();
  if (glob === undefined || glob === "") throw reader.error("a URL pattern such as **/api/*");
  return { method, glob };
}

/** Whether a text matches a comparison, ignoring its `negated`. White space counts as one space. */
export function textMatches(text: string, { how, value, flags }: TextComparison): boolean {
  const seen = spaced(text);
  if (how === "matches") return compiled(value, flags).matcher(seen.slice(0, 100_000)).find();
  return how === "is" ? seen === spaced(value) : seen.includes(spaced(value));
}

/** Matches a URL against a glob: the whole URL, or from the host or the path on if the glob begins there. */
export function urlMatcher(pattern: string): (url: string) => boolean {
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]*" : escaped(part)))
    .join("");
  const regex = RE2JS.compile(`^${source}$`, RE2JS.DOTALL);
  return (url) => {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    const path = parsed === undefined ? url : parsed.pathname + parsed.search;
    const forms = [url, ...(parsed === undefined ? [] : [parsed.host + path, path, parsed.pathname])];
    return forms.some((form) => regex.matcher(form.slice(0, 8_000)).find());
  };
}
