import { clip, digits, oneLine } from "@refmcp/boundary/answer";
import type { TableCounts } from "./record.ts";

/** `1 row`, `2,000 rows`. */
export const rowCount = (rows: number) => `${digits(rows)} ${rows === 1 ? "row" : "rows"}`;

/** Characters of a statement that the user is shown. */
const SHOWN_CHARS = 2_000;

const ACTION_CHARS = 100;

/** A statement as the user is shown it. */
export function shownSql(sql: string): string {
  const text = oneLine(sql.trim().replace(/\s*;$/, ""));
  const rest = text.length - SHOWN_CHARS;
  return rest <= 0 ? text : `${text.slice(0, SHOWN_CHARS)}… (${digits(rest)} more characters)`;
}

/** What a change that is not recorded loses, or weakens. */
export interface Loss {
  /** Inserting rows loses nothing. */
  readonly tables?: readonly TableCounts[];
  /** Statements that change the schema, with the rows that are lost: `DROP TABLE users (3 rows)`. */
  readonly objects?: readonly string[];
  /** Protections that are weakened. */
  readonly weakened?: readonly string[];
  /** Why the rows can't be restored, if that is not obvious. */
  readonly reason?: string | undefined;
}

/** What is lost, the worst first: `DELETE of 5,000 rows of users`. */
function lossesOf({ tables = [], objects = [] }: Loss): { objects: string[]; rows: string[] } {
  const largestFirst = [...tables].sort((a, b) => b.deleted + b.updated - a.deleted - a.updated);
  const rows = largestFirst.flatMap(({ table, updated, deleted }) => [
    ...(deleted === 0 ? [] : [`DELETE of ${rowCount(deleted)} of ${table}`]),
    ...(updated === 0 ? [] : [`UPDATE of ${rowCount(updated)} of ${table}`]),
  ]);
  return { objects: [...objects], rows };
}

/** The loss in a sentence for the user, who must agree to it; undefined if there is none. */
export function lossText(loss: Loss): string | undefined {
  const { objects, rows } = lossesOf(loss);
  const { weakened = [], reason } = loss;
  const why = rows.length === 0 || reason === undefined ? "" : ` (${reason})`;
  const losses = [...objects, ...rows];
  const sentences = [
    ...(losses.length === 0 ? [] : [`This cannot be undone: ${losses.join("; ")}${why}.`]),
    ...(weakened.length === 0 ? [] : [`This weakens protection: ${weakened.join("; ")}.`]),
  ];
  return sentences.length === 0 ? undefined : sentences.join(" ");
}

/** What the user agrees to, for a button: "DELETE of 5,000 rows of users, and 2 more". */
export function lossAction(loss: Loss): string | undefined {
  const { objects, rows } = lossesOf(loss);
  const [first, ...more] = [...objects, ...rows];
  if (first === undefined || more.length === 0) return first && clip(first, ACTION_CHARS);
  return `${clip(first, ACTION_CHARS)}, and ${more.length} more`;
}
