import type { TableCounts } from "./change-record.ts";

// Imported by SQLite's runner: only Node.js here.

/** `1 row`, `2,000 rows`. */
export const rowCount = (rows: number) =>
  `${String(rows).replace(/\B(?=(?:\d{3})+$)/g, ",")} ${rows === 1 ? "row" : "rows"}`;

/** What a change that is not recorded loses, or weakens. */
export interface Loss {
  /** Inserting rows loses nothing. */
  readonly tables?: readonly TableCounts[];
  /** Schema objects that are removed with their contents: `DROP TABLE users (3 rows)`. */
  readonly objects?: readonly string[];
  /** Protections that are weakened: `GRANT ALL on "users" to PUBLIC`. */
  readonly weakened?: readonly string[];
  /** Why the rows can't be restored, if that is not obvious. */
  readonly reason?: string | undefined;
}

/** The loss in a sentence for the user, who must agree to it; undefined if there is none. */
export function lossText({ tables = [], objects = [], weakened = [], reason }: Loss): string | undefined {
  const largestFirst = [...tables].sort((a, b) => b.deleted + b.updated - a.deleted - a.updated);
  const rows = largestFirst.flatMap(({ table, updated, deleted }) => [
    ...(deleted === 0 ? [] : [`DELETE of ${rowCount(deleted)} of ${table}`]),
    ...(updated === 0 ? [] : [`UPDATE of ${rowCount(updated)} of ${table}`]),
  ]);
  const losses = [...objects, ...rows];
  const why = rows.length === 0 || reason === undefined ? "" : ` (${reason})`;
  const sentences = [
    ...(losses.length === 0 ? [] : [`This cannot be undone: ${losses.join("; ")}${why}.`]),
    ...(weakened.length === 0 ? [] : [`This weakens protection: ${weakened.join("; ")}.`]),
  ];
  return sentences.length === 0 ? undefined : sentences.join(" ");
}
