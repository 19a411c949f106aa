import { RE2JS } from "re2js";
import type { NumberComparison, RequestPattern, TextComparison } from "./ast.ts";
import { escaped, LanguageError, type Reader } from "./reader.ts";

const TEXT_EXAMPLE = "h1 contains 'Docs'";

/** `["not" | "does not" | "is not"] ("is" STR | "contains" STR | "matches" /RE/flags)`, or undefined. */
export function textComparison(reader: Reader): TextComparison | undefined {
  const start = reader.at;
  let negated = false;
  if (reader.takes("does not") || reader.takes("doesn't") || reader.takes("not")) negated = true;
  for (const [word, how] of COMPARING) {
    if (!reader.takes(word)) continue;
    if (how === "matches") return { how, ...pattern(reader), negated };
    if (how === "is" && reader.takes("not")) negated = !negated;
    if (how === "is" && !reader.isAtString()) break;
    return { how, value: reader.string(TEXT_EXAMPLE), flags: "", negated };
  }
  reader.at = start;
  return undefined;
}

const COMPARING = [
  ["is", "is"],
  ["equals", "is"],
  ["equal", "is"],
  ["contains", "contains"],
  ["contain", "contains"],
  ["matches", "matches"],
  ["match", "matches"],
] as const;

/** A pattern between slashes, in RE2's syntax. */
function pattern(reader: Reader): { value: string; flags: string } {
  const example = "title matches /^Docs/i";
  const start = reader.at;
  const found = reader.takesPattern(
    /\/((?:[^/\\[\n\r\u2028\u2029]|\\.|\[(?:[^\]\\\n\r\u2028\u2029]|\\.)*\])+)\/([a-z]*)/,
  );
  if (found === undefined) throw reader.error("a pattern between slashes", example);
  const [, value = "", flags = ""] = found;
  if (/[^imsu]/.test(flags)) throw new LanguageError(start, "only the flags i, m, s and u", example);
  try {
    compiled(value, flags);
    // An exported pattern runs in JavaScript, which does not know RE2's (?i).
    new RegExp(value, flags);
  } catch {
    throw new LanguageError(
      start,
      "a pattern that both JavaScript and RE2 support (no look-around and no back-references)",
      example,
    );
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
  ["is at least", ">="],
  ["at least", ">="],
  ["is at most", "<="],
  ["at most", "<="],
  ["is more than", ">"],
  ["more than", ">"],
  ["is less than", "<"],
  ["less than", "<"],
  ["is", "="],
  ["equals", "="],
] as const;

/** `["is" | "at least" | "at most" | "more than" | "less than" | ">=" …] INT`. */
export function numberComparison(reader: Reader, example: string): NumberComparison {
  const words = NUMBER_WORDS.find(([phrase]) => reader.takes(phrase));
  const sign = words === undefined ? reader.takesPattern(/(>=|<=|>|<|==?)/)?.[1] : undefined;
  const value = reader.takesPattern(/\d{1,9}(?![\w.])/);
  if (value === undefined) throw reader.error("a whole number, or at least, at most and a number", example);
  const how = words?.[1] ?? (sign === "==" || sign === undefined ? "=" : sign);
  return {
    how: how === ">=" || how === "<=" || how === ">" || how === "<" ? how : "=",
    value: Number(value[0]),
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** `500ms`, `2s`, `1.5 s`, `1m` in milliseconds. */
export function duration(reader: Reader, example: string): number {
  const found = reader.takesPattern(/(\d+(?:\.\d+)?)\s*(ms|s|m)(?!\w)/i);
  const milliseconds = Number(found?.[1]) * (UNITS[found?.[2]?.toLowerCase() ?? ""] ?? Number.NaN);
  if (!(milliseconds > 0 && milliseconds <= 600_000))
    throw reader.error("a time such as 500ms or 2s, at most 10m", example);
  return milliseconds;
}

const SIZES: Readonly<Record<string, number>> = { b: 1, kb: 1e3, kib: 1024, mb: 1e6, mib: 1024 * 1024 };

/** `300 kB`, `2 MB`, `1 MiB` in bytes. */
export function size(reader: Reader, example: string): number {
  const found = reader.takesPattern(/(\d+(?:\.\d+)?)\s*(b|kb|kib|mb|mib)(?!\w)/i);
  const bytes = Number(found?.[1]) * (SIZES[found?.[2]?.toLowerCase() ?? ""] ?? Number.NaN);
  if (!(bytes > 0)) throw reader.error("a size such as 500 kB or 2 MB", example);
  return bytes;
}

/** `200`, or `2xx` for 200 to 299. */
export function statusRange(reader: Reader, example: string): { from: number; to: number } {
  const found = reader.takesPattern(/([1-5])(\d\d|xx)(?!\w)/i);
  if (found === undefined) throw reader.error("a status such as 200 or 2xx", example);
  const [, first = "", tail = ""] = found;
  return tail.toLowerCase() === "xx"
    ? { from: Number(first) * 100, to: Number(first) * 100 + 99 }
    : { from: Number(first + tail), to: Number(first + tail) };
}

const METHODS = /(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)(?=\s)/;

/** `["POST"] GLOB`. */
export function requestPattern(reader: Reader, example: string): RequestPattern {
  const method = reader.takesPattern(METHODS)?.[0];
  return { method, glob: glob(reader, example) };
}

/** A glob over URLs, quoted or bare: `*` within a part of the path, `**` across parts. */
export function glob(reader: Reader, example: string): string {
  const value = reader.isAtString() ? reader.string(example) : reader.takesPattern(/\S+/)?.[0];
  if (value === undefined || value === "") throw reader.error("a URL pattern such as **/api/*", example);
  return value;
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
