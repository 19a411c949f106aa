import { oneLine } from "@refmcp/boundary/answer";

/** The text around a position, counted in characters from 0, with a mark before it. */
export function excerpt(sql: string, at: number): string {
  const points = [...sql];
  const from = Math.max(0, at - 30);
  const before = points.slice(from, at).join("");
  const after = points.slice(at, at + 30).join("");
  const text = `${from > 0 ? "…" : ""}${before}»${after}${at + 30 < points.length ? "…" : ""}`;
  return JSON.stringify(oneLine(text.replace(/\s+/g, " ")));
}

/** ` (position 10: "SELECT * »FORM users")`, for the message of an error. @param index in code units */
export function positionText(sql: string, index: number): string {
  const at = [...sql.slice(0, index)].length;
  return ` (position ${at + 1}: ${excerpt(sql, at)})`;
}
