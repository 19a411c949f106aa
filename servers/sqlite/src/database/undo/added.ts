import { createHash } from "node:crypto";
import type { RecordedRow } from "@refmcp/sql/change-record";
import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import { asBytes, doubtOf, encodeValue, type Shape } from "./shape.ts";

/** Rows that one line of a record stands for. */
const ROWS_A_LINE = 1_000;

/** The last rowid of a table, after which an import adds its rows; undefined if it has none. */
export function lastRowid(database: Database.Database, { name, key }: Shape): bigint | undefined {
  const sql = `SELECT max(${key[0]}) FROM main.${quoteIdentifier(name)}`;
  return database.prepare<[], bigint | null>(sql).pluck().get() ?? undefined;
}

/**
 * The rows after a rowid, as lines of a record. The rows themselves are not kept, since an undo only removes them: a digest
 * shows whether they are still the same.
 */
export function* addedRows(
  database: Database.Database,
  shape: Shape,
  last: bigint | undefined,
): Generator<RecordedRow> {
  const [key = ""] = shape.key;
  const rows =
    last === undefined ? rowsIn(database, shape, "true") : rowsIn(database, shape, `${key} > ?`, last);
  let block: { rowid: unknown; text: string }[] = [];
  const line = () => ({
    table: shape.name,
    key: encodeValue(block[0]?.rowid),
    after: digestOf(block),
    range: { to: encodeValue(block.at(-1)?.rowid), rows: block.length },
  });
  for (const row of rows) {
    block.push(row);
    if (block.length < ROWS_A_LINE) continue;
    yield line();
    block = [];
  }
  if (block.length > 0) yield line();
}

/** The digest of the rows between two rowids, as `addedRows` has it; undefined if there are none. */
export function digestBetween(
  database: Database.Database,
  shape: Shape,
  from: unknown,
  to: unknown,
): string | undefined {
  const rows = [...rowsIn(database, shape, `${shape.key[0]} BETWEEN ? AND ?`, from, to)];
  return rows.length === 0 ? undefined : digestOf(rows);
}

const digestOf = (rows: readonly { text: string }[]) =>
  createHash("sha256")
    .update(rows.map(({ text }) => text).join("\n"))
    .digest("base64");

function* rowsIn(
  database: Database.Database,
  { name, key: [key = ""], columns }: Shape,
  where: string,
  ...values: readonly unknown[]
): Generator<{ rowid: unknown; text: string }> {
  const from = `FROM main.${quoteIdentifier(name)}`;
  const names = columns.map(quoteIdentifier);
  const isDoubtful = doubtOf(database);
  const exact = database
    .prepare<[unknown], unknown[]>(`SELECT ${names.map(asBytes).join(", ")} ${from} WHERE ${key} = ?`)
    .raw();
  const all = database
    .prepare<unknown[], unknown[]>(
      `SELECT ${[key, ...names].join(", ")} ${from} WHERE ${where} ORDER BY ${key}`,
    )
    .raw();
  for (const [rowid, ...row] of all.iterate(...values)) {
    const bytes = isDoubtful(row) ? exact.get(rowid) : undefined;
    const encoded = row.map((value, at) => encodeValue(value, bytes?.[at]));
    yield { rowid, text: JSON.stringify([encodeValue(rowid), ...encoded]) };
  }
}
