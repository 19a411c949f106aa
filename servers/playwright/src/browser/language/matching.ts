import { RE2JS } from "re2js";
import type { TextComparison } from "./ast.ts";

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
    const forms = [
      url,
      ...(parsed === undefined ? [] : [parsed.host + path, path, parsed.pathname]),
    ];
    return forms.some((form) => regex.matcher(form.slice(0, 8_000)).find());
  };
}
