import { RE2JS } from "re2js";
import type { TextComparison } from "./language/ast.ts";

export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** A pattern as RE2, which runs in linear time. */
export function compiled(source: string, flags: string): RE2JS {
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

/** Whether a text matches a comparison, ignoring its `negated`. White space counts as one space, and the two forms of ö as one. */
export function textMatches(text: string, { how, value, flags }: TextComparison): boolean {
  const visibleText = spaced(text.normalize("NFC"));
  const expectedText = spaced(value.normalize("NFC"));
  if (how === "matches")
    return compiled(value, flags).matcher(visibleText.slice(0, 100_000)).find();
  return how === "is" ? visibleText === expectedText : visibleText.includes(expectedText);
}

/** The pattern of a glob over URLs, which may begin with the host or the path. */
export function globSource(glob: string): string {
  const parts = glob.split(/(\*\*|\*)/).map((part) => {
    if (part === "**") return ".*";
    return part === "*" ? "[^/]*" : escaped(part).replace(/\s/g, "\\s");
  });
  const isWhole = /^(?:[a-z]+:|\*)/i.test(glob);
  const beginning = glob.startsWith("/") ? "(?:[a-z]+:\\/\\/[^/]+)?" : "(?:[a-z]+:\\/\\/)?";
  return `^${isWhole ? "" : beginning}${parts.join("")}${glob.includes("?") ? "" : "(?:\\?.*)?"}$`;
}

/** For what must not be requested: without a wildcard, a part of the URL. An exact path would let others pass. */
export const anywhere = (glob: string): string => (glob.includes("*") ? glob : `**${glob}**`);

/** A part of a URL, where a browser encodes letters such as ö. */
export const inUrl = (text: string): string =>
  text.replace(/[\u0080-\ud7ff\ue000-\u{10ffff}]+/gu, encodeURIComponent);

export function urlMatcher(glob: string, flags = "s"): (url: string) => boolean {
  const regex = compiled(globSource(glob), flags);
  return (url) => regex.matcher(url.slice(0, 8_000)).find();
}

/** A text between apostrophes, as sentences have it. */
export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t")}'`;
}
