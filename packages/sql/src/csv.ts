import type { Readable } from "node:stream";
import { ToolError } from "@refmcp/boundary/answer";
import { CsvError, parse } from "csv-parse";
import { parse as parseText } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";

/** As in PostgreSQL's COPY: NULL is an empty field, an empty string a quoted one. Objects are written as JSON. */
const WRITING = {
  record_delimiter: "unix",
  quoted_match: /[\r\n]/,
  cast: {
    string: (value: string) => ({ value, quoted_empty: true }),
    boolean: (value: boolean) => String(value),
    object: (value: unknown) => JSON.stringify(value),
  },
} as const;

/** CSV records (RFC 4180), each ending with a line feed. */
export function csvLines(rows: readonly (readonly unknown[])[]): string {
  return stringify(
    rows.map((row) => [...row]),
    WRITING,
  );
}

/** A record of a CSV file, and the line on which it ends. */
export interface CsvRecord {
  readonly fields: (string | null)[];
  readonly line: number;
}

/** A longer record means that a quote was never closed. */
const MAX_RECORD_CHARS = 16 * 1024 * 1024;

/**
 * The records of UTF-8 CSV one by one, including the header; a byte order mark is skipped. An empty unquoted field is null.
 *
 * @param source is read no faster than the records are consumed
 * @param name the file to name in errors
 * @throws ToolError `invalid` with the line, if the text is not valid CSV
 */
export async function* csvRecords(
  source: Readable,
  name: string,
  delimiter = ",",
): AsyncGenerator<CsvRecord> {
  const parser = parse({
    bom: true,
    cast: (value, { quoting }) => (value === "" && !quoting ? null : value),
    delimiter,
    info: true,
    max_record_size: MAX_RECORD_CHARS,
    skip_empty_lines: true,
  });
  source.on("error", (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser) yield { fields: record, line: info.lines };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ToolError("invalid", `${JSON.stringify(name)} is not valid CSV: ${error.message}.`, {
      hint: "Every record needs as many fields as the header. For ; or tabs set delimiter.",
    });
  } finally {
    source.destroy();
  }
}

/** The fields of the first CSV record, whatever follows; none if the record is incomplete. */
export function csvHeader(text: string, delimiter: string): string[] {
  try {
    return parseText(text, { bom: true, delimiter, to: 1 })[0] ?? [];
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}
