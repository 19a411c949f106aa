import { ToolError } from "@refmcp/boundary/answer";

export { csvLine } from "./csv-line.ts";

/** A record of a CSV file, and the line on which it ends. */
export interface CsvRecord {
  readonly fields: (string | null)[];
  readonly line: number;
}

export const CSV_HINT =
  "The file must be UTF-8 (convert others with iconv). Every record needs as many fields as the header, and a quote in a quoted field is written twice. For ; or tabs set delimiter.";

/** A longer record means that a quote was never closed. */
const MAX_RECORD_CHARS = 16 * 1024 * 1024;

const LF = 10;
const CR = 13;
const QUOTE = 34;

/**
 * Reads UTF-8 CSV (RFC 4180) that arrives in pieces. It is our own because it must tell NULL, an empty field, from "" without
 * costing more than SQLite takes to insert the row. A byte order mark and empty lines are skipped; an empty line is a NULL in a
 * file with one column. Lines end with LF, CR LF, or, if the first one does, CR.
 */
export class CsvReader {
  readonly #name: string;
  readonly #delimiter: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #rest = "";
  #line = 1;
  /** Line breaks inside the fields of the current record. */
  #inside = 0;
  /** The number of fields of the first record; 0 before it. */
  #columns = 0;
  #endsWithCr = false;

  /** @param name the file to name in errors */
  constructor(name: string, delimiter: string) {
    this.#name = name;
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /**
   * The records that end in this piece.
   *
   * @param isLast whether the file ends with it
   * @throws ToolError `invalid` for text that is not UTF-8, misplaced quotes, and a record with more or fewer fields than the first one
   */
  *read(piece: Uint8Array, isLast: boolean): Generator<CsvRecord, undefined> {
    const text = this.#rest + this.#decoded(piece, isLast);
    this.#rest = "";
    for (let at = 0; at < text.length; ) {
      const fields: (string | null)[] = [];
      const end = this.#record(text, at, fields, isLast);
      if (end < 0) {
        this.#rest = text.slice(at);
        if (this.#rest.length > MAX_RECORD_CHARS)
          throw this.#invalid(
            `has a record of more than 16 MiB from line ${this.#line} on: perhaps a quote is not closed`,
          );
        return;
      }
      at = end;
      const line = this.#line + this.#inside;
      // The line break before `end` is part of the record.
      this.#line = line + 1;
      if (fields.length === 1 && fields[0] === null && this.#columns !== 1) continue;
      if (this.#columns === 0) this.#columns = fields.length;
      if (fields.length !== this.#columns)
        throw this.#invalid(
          `has ${fields.length} ${fields.length === 1 ? "field" : "fields"} on line ${line}, but the first line has ${this.#columns}`,
        );
      yield { fields, line };
    }
  }

  #invalid(what: string): ToolError {
    return new ToolError("invalid", `${JSON.stringify(this.#name)} ${what}.`, {
      code: "REFMCP_CSV",
      hint: CSV_HINT,
    });
  }

  #decoded(piece: Uint8Array, isLast: boolean): string {
    try {
      return this.#decoder.decode(piece, { stream: !isLast });
    } catch {
      throw this.#invalid(`is not UTF-8 text after line ${this.#line}`);
    }
  }

  /** Adds the fields of the record at `start`. Returns where the next record starts, or -1 if the text ends before. */
  #record(text: string, start: number, fields: (string | null)[], isLast: boolean): number {
    const delimiter = this.#delimiter;
    this.#inside = 0;
    for (let at = start; ; ) {
      let end = at;
      if (text.charCodeAt(at) === QUOTE) {
        end = closing(text, at);
        // A quote at the end of the text may be the first of two.
        if (end < 0 || (end + 1 === text.length && !isLast)) {
          if (isLast)
            throw this.#invalid(
              `has a quote on line ${this.#line + this.#inside} that is not closed`,
            );
          return -1;
        }
        const value = text.slice(at + 1, end);
        fields.push(value.includes('"') ? value.replaceAll('""', '"') : value);
        if (value.includes("\n")) this.#inside += value.split("\n").length - 1;
        end += 1;
      } else {
        for (; end < text.length; end++) {
          const code = text.charCodeAt(end);
          if (code === delimiter || code === LF || (code === CR && this.#endsLine(text, end)))
            break;
          if (code === QUOTE)
            throw this.#invalid(
              `has a quote inside a field without quotes on line ${this.#line + this.#inside}`,
            );
        }
        fields.push(end === at ? null : text.slice(at, end));
      }
      if (end === text.length) return isLast ? end : -1;
      const code = text.charCodeAt(end);
      if (code === LF) return end + 1;
      if (code === CR && this.#endsLine(text, end)) {
        if (text.charCodeAt(end + 1) === LF) return end + 2;
        // At the end of the text, a line feed may follow.
        return end + 1 < text.length || isLast ? end + 1 : -1;
      }
      if (code !== delimiter)
        throw this.#invalid(`has text after a closing quote on line ${this.#line + this.#inside}`);
      at = end + 1;
    }
  }

  /** Whether a carriage return ends a line. */
  #endsLine(text: string, at: number): boolean {
    if (at + 1 === text.length || text.charCodeAt(at + 1) === LF) return true;
    this.#endsWithCr ||= this.#columns === 0;
    return this.#endsWithCr;
  }
}

/** The position of the quote that ends the field, whose inner quotes are doubled; -1 if there is none. */
function closing(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && text.charCodeAt(end + 1) === QUOTE) end = text.indexOf('"', end + 2);
  return end;
}

/**
 * The fields of the first CSV record; none if the text ends before it does.
 *
 * @param isWhole whether the file ends with these bytes
 * @throws ToolError as `CsvReader`
 */
export function csvHeader(
  bytes: Uint8Array,
  isWhole: boolean,
  name: string,
  delimiter: string,
): string[] {
  const { value } = new CsvReader(name, delimiter).read(bytes, isWhole).next();
  return (value?.fields ?? []).map((name) => name ?? "");
}
