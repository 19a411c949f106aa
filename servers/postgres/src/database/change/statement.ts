import { oneLine } from "@refmcp/boundary/answer";
import type { Changed } from "@refmcp/sql";
import { encodeRow } from "@refmcp/sql/formats";
import { remarks } from "../driver/read.ts";
import type { Session, Sessions } from "../driver/sessions.ts";
import { paramsOf, type Row } from "../driver/values.ts";
import type { Change } from "../gate/write.ts";

/** Characters of rows; those that fit are shown. */
const SHOWN_CHARS = 1_000_000;
/** Rows whose places are noted; a change of more is not recorded. */
const MAX_PLACES = 250_000;
const CELL_BYTES = 8_192;

/**
 * Runs one statement of a change.
 *
 * @param places gets where its rows are, if it is located: its last two columns are ours then
 */
export async function runStatement(
  { types }: Sessions,
  session: Session,
  { sql, command }: Pick<Change, "sql" | "command">,
  params: readonly unknown[],
  places?: Map<string, string[]>,
) {
  const query = { text: sql, params: paramsOf(params) };
  const locate = ([table, place]: Row) => {
    const list = places?.get(`${table}`);
    if (list === undefined) places?.set(`${table}`, [`${place}`]);
    else if (list.length < MAX_PLACES) list.push(`${place}`);
  };
  const caps = { chars: SHOWN_CHARS, toEnd: true, locate: places && locate };
  const { fields, rows, tag } = await session.query(query, caps);
  const visible = places === undefined ? fields : fields.slice(0, -2);
  const { columns, decoded } = await types.columnsOf(visible, (statement, values) =>
    session.rows(statement, values),
  );
  const count = /(\d+)$/.exec(tag ?? "")?.[1];
  return {
    command: (tag ?? command).replace(/[\s\d]+$/, ""),
    /** Rows that were inserted, updated, deleted or returned; undefined for commands without a count. */
    rowCount: count === undefined ? undefined : Number(count),
    columns,
    rows: columns.length === 0 ? [] : rows.map(decoded),
  };
}

export type StatementOutcome = Awaited<ReturnType<typeof runStatement>>;

/** Adds which of several statements failed to the error. */
export async function numbered<Value>(
  index: number,
  of: number,
  work: Promise<Value>,
  sql?: string,
): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (of === 1 || !(error instanceof Error)) throw error;
    const place = `Statement ${index + 1} of ${of}${sql === undefined ? "" : ` (${oneLine(sql.slice(0, 60))})`}: `;
    // Keeps the class and fields of the error, which explain it later.
    error.message = place + error.message;
    throw error;
  }
}

/** The effect of a change, with as many rows of RETURNING as fit. */
export function changed(
  outcomes: readonly StatementOutcome[],
  rowChars: number,
  rest: Omit<Changed, "results" | "truncatedBy">,
): Changed {
  const cut = { count: 0 };
  let space = rowChars - JSON.stringify([rest.tables, rest.loss, rest.notices]).length;
  let isShort = false;
  const results = outcomes.map(({ command, rowCount, columns, rows }) => {
    const facts = { command, ...(rowCount === undefined ? {} : { row_count: rowCount }) };
    space -= JSON.stringify([facts, columns]).length + 30;
    if (columns.length === 0) return facts;
    const visibleRows: unknown[][] = [];
    for (const row of rows) {
      const encoded = encodeRow(row, CELL_BYTES, cut);
      space -= JSON.stringify(encoded).length + 1;
      if (space < 0) break;
      visibleRows.push(encoded);
    }
    isShort ||= visibleRows.length < (rowCount ?? rows.length);
    return { ...facts, columns, rows: visibleRows };
  });
  const truncatedBy = isShort ? "bytes" : cut.count > 0 ? "cell" : undefined;
  return { ...rest, results, truncatedBy, notices: remarks(rest.notices ?? []) };
}
