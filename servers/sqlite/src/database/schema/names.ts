import { quoteIdentifier, unquoted } from "@refmcp/sql/names";
import type { Token } from "../gate/tokens.ts";

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

/** The conditions of a table's CHECK constraints that name only one column, by the column's name in lower case. */
export function checksOf(
  tokens: readonly Token[],
  columns: readonly string[],
): Map<string, string[]> {
  const columnNames = new Set(columns.map((name) => name.toLowerCase()));
  const checks = new Map<string, string[]>();
  for (const [at, { kind, text }] of tokens.entries()) {
    const open = tokens[at + 1];
    if (kind !== "word" || text.toUpperCase() !== "CHECK" || open?.text !== "(") continue;
    const end = tokens.findIndex(
      (token, index) => index > at + 1 && token.text === ")" && token.depth === open.depth,
    );
    const inside = tokens.slice(at + 2, end < 0 ? undefined : end);
    const names = inside.flatMap((token) =>
      token.kind === "word" || token.kind === "name" ? [unquoted(token.text).toLowerCase()] : [],
    );
    const [column, ...others] = new Set(names.filter((name) => columnNames.has(name)));
    if (column !== undefined && others.length === 0)
      checks.set(column, [...(checks.get(column) ?? []), textOf(inside)]);
  }
  return checks;
}

/** Tokens as a text, with one space for the white space and comments between them. */
const textOf = (tokens: readonly Token[]) =>
  tokens.reduce((text, { text: next, at }, index) => {
    const before = tokens[index - 1];
    return before === undefined || before.at + before.text.length === at
      ? text + next
      : `${text} ${next}`;
  }, "");
