import { type Plan, quoteIdentifier, type Suggestion, type Work } from "@refmcp/sql";
import type { Answer } from "../driver/jobs.ts";
import { look, type Row, type Source, text } from "../schema/look.ts";
import { creating } from "./plan.ts";

/** The plan of a statement as an indented tree, its full scans, and indexes that would help. */
export function shownPlan({ plan, indexes }: Answer<"plan">): Plan {
  const scans = plan.flatMap(
    ({ detail }) => /^SCAN (.+?)(?: VIRTUAL TABLE.*| USING.*)?$/s.exec(detail)?.[1] ?? [],
  );
  return {
    plan: indented(plan),
    full_scans: [...new Set(scans)].filter((name) => name !== "CONSTANT ROW"),
    missing_indexes: [...indexes],
  };
}

/** One line for each node. */
function indented(rows: readonly Row[]): string[] {
  const depths = new Map<number, number>();
  return rows.map(({ id, parent, detail }) => {
    const depth = (depths.get(Number(parent)) ?? -1) + 1;
    depths.set(Number(id), depth);
    return `${"  ".repeat(depth)}${text(detail)}`;
  });
}

/** Foreign keys with the indexes of their tables. */
const KEYS = `
SELECT m.name AS tbl, k.id, group_concat(k."from", ',') AS key, json_group_array(k."from") AS columns,
  (SELECT json_group_array((SELECT group_concat(c.name, ',') FROM pragma_index_info(i.name) c))
    FROM pragma_index_list(m.name) i) AS indexes,
  (SELECT group_concat(name, ',') FROM pragma_table_info(m.name) WHERE pk > 0) AS pk
FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) k
WHERE m.type = 'table' GROUP BY 1, 2`;
const UNINDEXED_KEY =
  "Foreign key without an index: every delete or key change in the referenced table scans this table.";
/** Pairs of plain indexes, one of which starts with all columns of the other. */
const REDUNDANT = `
WITH i AS (
  SELECT m.name AS tbl, l.name, l."unique" AS is_unique, l.origin,
    (SELECT group_concat(c.name, ',') FROM pragma_index_info(l.name) c) || ',' AS columns
  FROM sqlite_schema m JOIN pragma_index_list(m.name) l
  WHERE m.type = 'table' AND l.partial = 0)
SELECT a.tbl, a.name, b.name AS other
FROM i a JOIN i b ON a.tbl = b.tbl AND a.name <> b.name
  AND substr(b.columns, 1, length(a.columns)) = a.columns
WHERE a.origin = 'c' AND a.is_unique = 0
  AND (a.columns <> b.columns OR b.is_unique = 1 OR a.name > b.name)
ORDER BY 1, 2`;

/** Indexes to create for foreign keys, and redundant indexes to drop. */
export async function indexSuggestions(source: Source, work: Work): Promise<Suggestion[]> {
  const [keys = [], redundant = []] = await look(source, [[KEYS], [REDUNDANT]], work);
  const forKeys = keys.flatMap((row) => {
    const indexes: unknown[] = JSON.parse(text(row.indexes));
    const columns: string[] = JSON.parse(text(row.columns));
    const isCovered = [...indexes, row.pk].some((indexed) =>
      `${text(indexed)},`.startsWith(`${text(row.key)},`),
    );
    const table = text(row.tbl);
    const create = creating({ name: [table, ...columns].join("_"), table, columns });
    return isCovered ? [] : [{ table, create, reason: UNINDEXED_KEY }];
  });
  const toDrop = redundant.map((row) => ({
    table: text(row.tbl),
    drop: `DROP INDEX ${quoteIdentifier(text(row.name))}`,
    reason: `${text(row.other)} starts with the same columns.`,
  }));
  return [...forKeys, ...toDrop];
}
