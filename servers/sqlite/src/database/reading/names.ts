import { quoteIdentifier } from "@refmcp/sql/names";
import type { Token } from "@refmcp/sql/statement";

/** The keywords that SQLite does not accept as a name without quotes. */
const RESERVED: ReadonlySet<string> = new Set(
  `add all alter and as autoincrement between case cast check collate commit constraint create current_date current_time
   current_timestamp default deferrable delete distinct drop else escape except exists foreign from group having in index
   insert intersect into is isnull join limit not nothing notnull null on or order primary raise references returning select
   set table then to transaction union unique update using values when where`.split(/\s+/),
);

/** A name as it must be written in SQL, in quotes where it needs them. */
export const written = (name: string) =>
  /^[A-Za-z_]\w*$/.test(name) && !RESERVED.has(name.toLowerCase()) ? name : quoteIdentifier(name);

/** The name behind an identifier, quoted in any of SQLite's ways or not. */
export const unquoted = (text: string) => {
  const [, name = text] =
    /^(?:"(.*)"|`(.*)`|\[(.*)\])$/s.exec(text)?.filter((part) => part !== undefined) ?? [];
  return name.replaceAll('""', '"');
};

/** The conditions of a table's CHECK constraints that name only one column, by the column's name in lower case. */
export function checksOf(tokens: readonly Token[], columns: readonly string[]): Map<string, string[]> {
  const known = new Set(columns.map((name) => name.toLowerCase()));
  const checks = new Map<string, string[]>();
  for (const [at, { kind, text }] of tokens.entries()) {
    const open = tokens[at + 1];
    if (kind !== "word" || text.toUpperCase() !== "CHECK" || open?.text !== "(") continue;
    const end = tokens.findIndex(
      (one, index) => index > at + 1 && one.text === ")" && one.depth === open.depth,
    );
    const inside = tokens.slice(at + 2, end < 0 ? undefined : end);
    const names = inside.flatMap((one) =>
      one.kind === "word" || one.kind === "name" ? [unquoted(one.text).toLowerCase()] : [],
    );
    const [column, ...others] = new Set(names.filter((name) => known.has(name)));
    if (column !== undefined && others.length === 0)
      checks.set(column, [...(checks.get(column) ?? []), textOf(inside)]);
  }
  return checks;
}

/** Tokens as a text with spaces where one would write them. */
function textOf(tokens: readonly Token[]): string {
  let text = "";
  for (const [at, { kind, text: next }] of tokens.entries()) {
    const before = tokens[at - 1];
    const isTight =
      before === undefined ||
      /^[),.]$/.test(next) ||
      /^[(.]$/.test(before.text) ||
      (next === "(" && before.kind === "word" && before.text.toUpperCase() !== "IN") ||
      (kind === "other" && before.kind === "other" && !/[(),]/.test(next + before.text));
    text += isTight ? next : ` ${next}`;
  }
  return text;
}
