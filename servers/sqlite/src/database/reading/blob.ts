import { grouped, ToolError } from "@refmcp/boundary/answer";
import { quoteIdentifier, withNear } from "@refmcp/sql";
import { look, type Source, text } from "./look.ts";
import { tableColumns, tableFound } from "./tables.ts";

/** Maximum bytes of one value; base64 makes it a third longer. */
const MAX_BYTES = 8_388_608;

/** The first bytes of common file types in hexadecimal, so that hosts can show them. */
const BEGINNINGS: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/jpeg", /^ffd8ff/],
  ["image/gif", /^474946383[79]61/],
  ["image/webp", /^52494646.{8}57454250/],
  ["application/pdf", /^255044462d/],
  ["application/gzip", /^1f8b/],
  ["application/zip", /^504b0304/],
];

export interface Cell {
  readonly table: string;
  readonly column: string;
  readonly rowId: string;
}

/**
 * One complete value: a text, or a blob with the media type that its first bytes indicate.
 *
 * @throws ToolError `not_found` for a table, column or row; `too_large` beyond 8 MiB; `invalid` for other values
 */
export async function readCell(source: Source, { table, column, rowId }: Cell) {
  const { name } = await tableFound(source, table);
  const names = await tableColumns(source, name);
  const found = names.find((one) => one.toLowerCase() === column.toLowerCase());
  if (found === undefined)
    throw withNear("column", column, names, `Call describe_table for the columns of ${name}.`);
  if (!/^-?\d{1,19}$/.test(rowId))
    throw new ToolError("invalid", `${JSON.stringify(rowId.slice(0, 60))} is not a rowid.`, {
      hint: "The URI ends with the row's INTEGER PRIMARY KEY or rowid.",
    });
  const cell = quoteIdentifier(found);
  const sql = `SELECT typeof(${cell}) AS type, octet_length(${cell}) AS size,
    CASE WHEN octet_length(${cell}) <= ${MAX_BYTES} THEN ${cell} END AS value FROM ${quoteIdentifier(name)} WHERE rowid = ?`;
  const [[row] = []] = await look(source, [[sql, BigInt(rowId)]]);
  if (row === undefined)
    throw new ToolError("not_found", `${name} has no row ${rowId}.`, {
      hint: "Call read_query to see its rows.",
    });
  if (Number(row.size) > MAX_BYTES)
    throw new ToolError(
      "too_large",
      `The value has ${grouped(Number(row.size))} bytes; the limit is ${grouped(MAX_BYTES)}.`,
      {
        hint: "Read it in parts with substr(column, n, m) in read_query, or write it to a file with export_query.",
      },
    );
  if (typeof row.value === "string") return { text: row.value, mimeType: "text/plain" };
  if (!(row.value instanceof Uint8Array))
    throw new ToolError("invalid", `The value is ${text(row.type).toUpperCase()}, neither a blob nor text.`, {
      hint: "Call read_query to see it.",
    });
  const beginning = Buffer.from(row.value.subarray(0, 16)).toString("hex");
  const [type = "application/octet-stream"] = BEGINNINGS.find(([, pattern]) => pattern.test(beginning)) ?? [];
  return { blob: row.value, mimeType: type };
}
