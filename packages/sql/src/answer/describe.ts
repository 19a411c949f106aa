import { clip, fitCount } from "@refmcp/boundary/answer";
import type { ColumnFacts, Description, Relation, TableFacts } from "../database.ts";
import { valuesText } from "./values.ts";

const MAX_COLUMNS = 200;

/** A table with a line for each column. @param column only columns whose names have this part */
export function summary(
  { written, type }: Relation,
  { rows, columns }: TableFacts,
  column: string,
) {
  const part = column.toLowerCase();
  const wanted = columns.filter(({ name }) => name.toLowerCase().includes(part));
  return {
    table: written,
    type,
    ...(rows === undefined ? {} : { rows }),
    columns: wanted.slice(0, MAX_COLUMNS).map(columnText),
    ...(wanted.length > MAX_COLUMNS ? { more_columns: wanted.length - MAX_COLUMNS } : {}),
  };
}

function columnText(column: ColumnFacts): string {
  const { name, type, notNull, primaryKey, references } = column;
  const values = valuesText(column);
  const parts = [name, type, values.type];
  if (primaryKey === true) parts.push("primary key");
  else if (notNull === true) parts.push("not null");
  if (references !== undefined) parts.push(`→ ${references}`);
  return [...parts, values.rest].filter((part) => part !== "").join(" ");
}

/** The parts of a description that may be cut, the least important first. */
const CUT_FIRST =
  "sample partitions triggers ddl view_definition referenced_by constraints indexes partition_foreign_keys foreign_keys columns".split(
    " ",
  );

/** Fits a description into a budget: cuts the least important parts, and says in `omitted` what is missing. */
export function bounded(description: Description, budget: number): Description {
  let answer = description;
  const omitted: Record<string, number> = {};
  const over = () => JSON.stringify(answer).length + JSON.stringify(omitted).length + 100 - budget;
  for (const key of CUT_FIRST) {
    const part: unknown = answer[key];
    const excess = over();
    if (excess <= 0) break;
    if (typeof part === "string") {
      const length = Math.max(500, part.length - excess - 20);
      if (length >= part.length) continue;
      omitted[`${key}_chars`] = part.length - length;
      answer = { ...answer, [key]: clip(part, length) };
    } else if (Array.isArray(part)) {
      const space = Math.max(0, JSON.stringify(part).length - excess - 30);
      const fits = fitCount(part, space);
      const isTooLong = fits === 1 && JSON.stringify(part[0]).length > space;
      const count = isTooLong && key !== "columns" ? 0 : fits;
      if (count === part.length) continue;
      omitted[key] = part.length - count;
      answer = { ...answer, [key]: part.slice(0, count) };
    }
  }
  return Object.keys(omitted).length === 0 ? answer : { ...answer, omitted };
}
