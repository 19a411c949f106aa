import type { Readable } from "node:stream";
import { ToolError } from "@refmcp/core/answer";
import { CsvError, parse } from "csv-parse";
import { parse as parseText } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";

/** As PostgreSQL's COPY writes: NULL is an empty field, an empty text a quoted one. Values that are no text are JSON. */
const WRITING = {
  record_delimiter: "unix",
  quoted_match: /[\r\n]/,
  cast: {
    string: (value: string) => ({ value, quoted_empty: true }),
    boolean: (value: boolean) => String(value),
    object: (value: unknown) => JSON.stringify(value),
  },
} as const;

/** One record of RFC 4180, with its line end, which is a line feed. */
export function csvLine(row: readonly unknown[]): string {
  return csvLines([row]);
}

/** Many records, each with its line end. */
export function csvLines(rows: readonly (readonly unknown[])[]): string {
  return stringify(
    rows.map((row) => [...row]),
    WRITING,
  );
}

/** A longer record counts as a quote that was never closed. */
const MAX_RECORD_CHARS = 16 * 1024 * 1024;

/**
 * The records of a CSV text in UTF-8, the header among them, one by one; a byte order mark is left out.
 * An empty field without quotes is null.
 *
 * @param source is read no faster than the records are consumed
 * @param name of the file, for errors
 * @throws ToolError `invalid` where the text is no CSV, with the line
 */
export async function* csvRecords(
  source: Readable,
  name: string,
  delimiter = ",",
): AsyncGenerator<{ readonly fields: (string | null)[]; readonly line: number }> {
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
      hint: "Every record needs as many fields as the header; set delimiter for ; or tabs.",
    });
  } finally {
    source.destroy();
  }
}

/** The fields of the first record of a CSV text, whatever follows; none where it does not end. */
export function csvHeader(text: string, delimiter: string): string[] {
  try {
    return parseText(text, { bom: true, delimiter, to: 1 })[0] ?? [];
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}
