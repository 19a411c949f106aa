import { basename } from "node:path";
import type { GuardedFile } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { CsvReader } from "../answer/csv.ts";
import { withNear } from "../answer/names.ts";
import { findRelation, type TableName } from "../answer/relations.ts";
import { asking, type Calling, recorded } from "../change/run.ts";
import type { Databases } from "../databases.ts";
import type { Transfer } from "./export.ts";

interface Import extends TableName {
  readonly database?: string | undefined;
  readonly path: string;
  readonly delimiter: string;
  readonly dryRun: boolean;
}

/** Bytes of the longest header. */
const MAX_HEADER = 262_144;
/** What rows can be added to; a view may have a trigger for it. */
const TYPES = ["table", "virtual", "foreign_table", "view"];

/**
 * Adds the records of a CSV file inside the boundary to a table in one transaction: all or none. The first record names the
 * columns.
 *
 * @throws ToolError `not_found` for a table or column, with similar names; `invalid` for invalid CSV; `conflict` with the line
 */
export async function importCsv(
  databases: Databases,
  { database, path, delimiter, dryRun, ...name }: Import,
  call: Transfer & Pick<Calling, "confirm">,
) {
  const { signal } = call;
  const at = await databases.at(database);
  const hint = `Create it first with ${databases.kind.names.execute}.`;
  const relation = await findRelation(databases, at, name, { signal }, { types: TYPES, hint });
  const file = await databases.guard.openFile(path);
  try {
    const { size } = file.stat;
    const columnNames = await at.columns(relation, { signal });
    const columns = headerOf(
      await firstRecord(file, delimiter),
      columnNames,
      relation.written,
      file.path,
    );
    const { rows, changeId } = await at.copyIn({
      ...{ relation, columns, path: file.path, size, delimiter, dryRun, signal },
      bytes: () => file.handle.createReadStream({ start: 0, autoClose: false }),
      progress: (bytes) => call.progress(bytes, size, "bytes read"),
      record: () => databases.changes.slot(at.identity),
      agree: asking(call),
    });
    const facts = { table: relation.written, columns, rows, bytes: size, committed: !dryRun };
    return { ...facts, ...recorded(databases, changeId) };
  } finally {
    await file.handle.close();
  }
}

/** What the record of changes shows of an import. */
export const shownImport = (path: string, table: string) =>
  `import of ${basename(path)} into ${table}`;

async function firstRecord({ handle, path }: GuardedFile, delimiter: string): Promise<string[]> {
  const buffer = Buffer.alloc(MAX_HEADER);
  const { bytesRead } = await handle.read(buffer, 0, MAX_HEADER, 0);
  // An empty first line is not skipped: a database would take the second for a record.
  if (/^(?:\xef\xbb\xbf)?[\r\n]/.test(buffer.toString("latin1", 0, 4))) return [];
  const reader = new CsvReader(path, delimiter);
  const { value } = reader.read(buffer.subarray(0, bytesRead), bytesRead < MAX_HEADER).next();
  return (value?.fields ?? []).map((name) => name ?? "");
}

/** The table's columns, in the order of the file's header. */
function headerOf(
  fields: readonly string[],
  columnNames: readonly string[],
  table: string,
  path: string,
): string[] {
  const hint = `The first line must name columns of ${table}: ${columnNames.slice(0, 40).join(", ")}. For ; or tabs set delimiter.`;
  if (fields.length === 0)
    throw new ToolError("invalid", `The first line of ${JSON.stringify(path)} is empty.`, { hint });
  const columns = fields.map((field) => {
    const wanted = field.trim().toLowerCase();
    const column =
      columnNames.find((name) => name === field) ??
      columnNames.find((name) => name.toLowerCase() === wanted);
    if (column !== undefined) return column;
    throw withNear("column", field.slice(0, 60), columnNames, hint);
  });
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (twice === undefined) return columns;
  throw new ToolError("invalid", `${JSON.stringify(path)} names the column ${twice} twice.`, {
    hint,
  });
}
