import { createHash } from "node:crypto";
import type { RecordedRow } from "@refmcp/sql/change-record";
import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import { encodeValue, type Shape } from "./shape.ts";

/** Rows of one line of a record, and about how many bytes of them are in memory at once. */
const ROWS_A_LINE = 1_000;
const BYTES_A_LINE = 1_048_576;

const FIRST_ROWID = -(2n ** 63n);
const LAST_ROWID = 2n ** 63n - 1n;

/** The first rowid that an import into a table will use; undefined if SQLite can't count on from its last one. */
export function nextRowid(database: Database.Database, { name, key }: Shape): bigint | undefined {
  const sql = `SELECT max(${key[0]}) FROM main.${quoteIdentifier(name)}`;
  const last = database.prepare<[], bigint | null>(sql).pluck().get() ?? FIRST_ROWID;
  return last === LAST_ROWID ? undefined : last + 1n;
}

/**
 * The rows from a rowid on, as lines of a record. The rows themselves are not kept, since an undo only removes them: a digest
 * shows whether they are still the same.
 *
 * @param rowBytes about how large a row is
 */
export function* addedRows(
  database: Database.Database,
  shape: Shape,
  first: bigint,
  rowBytes: number,
): Generator<RecordedRow> {
  const [key = ""] = shape.key;
  const limit = Math.max(1, Math.min(ROWS_A_LINE, Math.floor(BYTES_A_LINE / rowBytes)));
  const next = blocksOf(database, shape, `${key} >= ? ORDER BY ${key} LIMIT ${limit}`);
  for (let from = first; ; ) {
    const block = next.get(from);
    if (block === undefined || block.last === null) return;
    const { rows, last } = block;
    yield {
      table: shape.name,
      key: encodeValue(block.first),
      after: digestOf(block),
      range: { to: encodeValue(last), rows: Number(rows) },
    };
    if (last === LAST_ROWID) return;
    from = last + 1n;
  }
}

/** The digest of the rows between two rowids, as `addedRows` has it; undefined if there are none. */
export function digestBetween(
  database: Database.Database,
  shape: Shape,
  from: unknown,
  to: unknown,
): string | undefined {
  const [key = ""] = shape.key;
  const block = blocksOf(database, shape, `${key} BETWEEN ? AND ? ORDER BY ${key}`).get(from, to);
  return block === undefined || block.last === null ? undefined : digestOf(block);
}

interface Block {
  readonly rows: bigint;
  readonly first: bigint | null;
  readonly last: bigint | null;
  readonly bytes: Uint8Array | null;
}

const digestOf = ({ bytes }: Block) =>
  createHash("sha256")
    .update(bytes ?? "")
    .digest("base64");

/** Reads rows as one value, which SQLite builds much faster than the driver returns each of them. */
function blocksOf(
  database: Database.Database,
  { name, key: [key = ""], columns }: Shape,
  where: string,
) {
  const cells = columns.map(quoteIdentifier).map(
    (c) =>
      `CASE typeof(${c}) WHEN 'null' THEN 'n' WHEN 'integer' THEN 'i' || ${c} WHEN 'real' THEN 'r' || quote(${c})
       ELSE substr(typeof(${c}), 1, 1) || length(CAST(${c} AS BLOB)) || ':' || ${c} END`,
  );
  return database.prepare<unknown[], Block>(
    `SELECT count(*) AS rows, min(k) AS first, max(k) AS last, CAST(group_concat(row, '') AS BLOB) AS bytes FROM
       (SELECT ${key} AS k, ${key} || ':' || ${cells.join(" || ")} AS row FROM main.${quoteIdentifier(name)} WHERE ${where})`,
  );
}
