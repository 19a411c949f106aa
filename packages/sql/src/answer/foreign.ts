import { ToolError } from "@refmcp/boundary/answer";
import { positionText } from "./position.ts";

/** What other databases write, as a pattern over SQL without the contents of its texts, and what to write here. */
export type ForeignSql = readonly (readonly [written: RegExp, hint: string])[];

/** Alone in parentheses, or after the code in those of PostgreSQL. */
const POSITION = /( \(|, )position \d+: "(?:[^"\\]|\\.)*"(?=\))/;

/** The SQL with blanks for the contents of texts, quoted names and comments. */
const withoutTexts = (sql: string) =>
  sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    /^['"]/.test(found)
      ? `${found[0]}${" ".repeat(found.length - 2)}${found[0]}`
      : " ".repeat(found.length),
  );

/**
 * An error about SQL of another database says what to write instead, and its position is that of the foreign part.
 *
 * @param missing what the database says does not exist, which must then be the foreign part: `ifnull(`; undefined if it
 *   does not say it
 * @param sql the statement, if there is only one: positions are in it
 */
export function translated(
  error: ToolError,
  foreign: ForeignSql,
  missing: string | undefined,
  sql: string,
): ToolError {
  const text = withoutTexts(sql);
  for (const [written, hint] of foreign) {
    const found = written.exec(text);
    if (found === null || (missing !== undefined && !written.test(missing))) continue;
    const place = positionText(sql, found.index);
    const message = error.message.startsWith("Statement ")
      ? error.message
      : POSITION.test(error.message)
        ? error.message.replace(POSITION, (_, before: string) => before + place.slice(2, -1))
        : `${error.message.replace(/\.$/, "")}${place}.`;
    return new ToolError(error.kind, message, { hint, code: error.code });
  }
  return error;
}
