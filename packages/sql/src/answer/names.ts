import { nearest, oneLine, ToolError } from "@refmcp/boundary/answer";

export const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The name behind an identifier, quoted in any of SQLite's ways or not. */
export function unquoted(text: string): string {
  const [, quote = "", name, bracketed] = /^(["'`])(.*)\1$|^\[(.*)\]$/s.exec(text) ?? [];
  return bracketed ?? name?.replaceAll(quote + quote, quote) ?? text;
}

/** ` Did you mean a or b?`, or an empty text without names. */
export const didYouMean = (names: readonly string[]) =>
  names.length === 0 ? "" : ` Did you mean ${names.map(oneLine).join(" or ")}?`;

/**
 * A `not_found` error that suggests similar names.
 *
 * @param what the kind of thing that is missing: `table`, `column`
 * @param written how a name is written in SQL
 */
export function withNear(
  what: string,
  name: string,
  candidates: Iterable<string>,
  hint: string,
  written = (candidate: string) => candidate,
): ToolError {
  const near = didYouMean(nearest(name, candidates).map(written));
  return new ToolError("not_found", `No ${what} ${oneLine(name.slice(0, 200))}.${near}`, { hint });
}

/** The same error with these names as suggestions. */
export function suggesting(error: ToolError, names: readonly string[]): ToolError {
  if (names.length === 0) return error;
  const { kind, message, hint, code } = error;
  return new ToolError(kind, `${message}${didYouMean(names)}`, { hint, code });
}
