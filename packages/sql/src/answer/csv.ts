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

/**
 * Reads UTF-8 CSV (RFC 4180) that arrives in pieces. It is our own because it must tell NULL, an empty field, from "" without
 * costing more than SQLite takes to insert the row. A byte order mark and empty lines are skipped; an empty line is a NULL in a
 * file with one column.
 */
export class CsvReader {
  readonly #name: string;
  readonly #delimiter: string;
  /** Ends a field without quotes; or is a quote, which must not be in it. */
  readonly #end: RegExp;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #rest = "";
  #line = 1;
  /** The number of fields of the first record; 0 before it. */
  #columns = 0;

  /** @param name the file to name in errors */
  constructor(name: string, delimiter: string) {
    this.#name = name;
    this.#delimiter = delimiter;
    this.#end = new RegExp(`[\\n"${delimiter.replace(/[\]\\^-]/, "\\$&")}]`, "g");
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
      if (end === undefined) {
        this.#rest = text.slice(at);
        if (this.#rest.length > MAX_RECORD_CHARS)
          throw this.#invalid("has a record of more than 16 MiB: perhaps a quote is not closed");
        return;
      }
      at = end;
      const line = this.#line;
      this.#line += 1;
      if (fields.length === 1 && fields[0] === null && this.#columns !== 1) continue;
      if (this.#columns === 0) this.#columns = fields.length;
      if (fields.length !== this.#columns) {
        const count = `${fields.length} ${fields.length === 1 ? "field" : "fields"}`;
        throw this.#invalid(`has ${count} where the first line has ${this.#columns}`, line);
      }
      yield { fields, line };
    }
  }

  #invalid(what: string, line = this.#line): ToolError {
    return new ToolError("invalid", `${JSON.stringify(this.#name)} ${what}, on line ${line}.`, {
      code: "REFMCP_CSV",
      hint: CSV_HINT,
    });
  }

  #decoded(piece: Uint8Array, isLast: boolean): string {
    try {
      return this.#decoder.decode(piece, { stream: !isLast });
    } catch {
      throw this.#invalid("is not UTF-8 text");
    }
  }

  /** Adds the fields of the record at `start`. Returns where the next one starts; undefined if the text ends before. */
  #record(text: string, start: number, fields: (string | null)[], isLast: boolean) {
    let lines = 0;
    for (let at = start; ; ) {
      const isQuoted = text[at] === '"';
      let end = isQuoted ? closing(text, at) : this.#endOf(text, at);
      // A quote at the end of the text may be the first of two.
      if (end < 0 || (end + 1 >= text.length && !isLast && text[end] !== "\n")) {
        if (isLast) throw this.#invalid("has a quote that is not closed");
        return undefined;
      }
      if (isQuoted) {
        const value = text.slice(at + 1, end);
        fields.push(value.includes('"') ? value.replaceAll('""', '"') : value);
        if (value.includes("\n")) lines += value.split("\n").length - 1;
        end += 1;
        if (text.startsWith("\r\n", end) || (isLast && text.slice(end) === "\r")) end += 1;
        // At the end of the text, a line feed may follow.
        else if (!isLast && text.slice(end) === "\r") return undefined;
      } else {
        const isLineEnd = end === text.length || text[end] === "\n";
        const value = text.slice(at, isLineEnd && text[end - 1] === "\r" ? end - 1 : end);
        fields.push(end === at || value === "" ? null : value);
      }
      if (end === text.length || text[end] === "\n") {
        this.#line += lines;
        return end + 1;
      }
      if (text[end] !== this.#delimiter)
        throw this.#invalid(`has a quote ${isQuoted ? "before other text" : "inside a field"}`);
      at = end + 1;
    }
  }

  /** Where a field without quotes ends: at a delimiter, a line feed, a quote or the end of the text. */
  #endOf(text: string, at: number): number {
    this.#end.lastIndex = at;
    return this.#end.exec(text)?.index ?? text.length;
  }
}

/** The position of the quote that ends the field, whose inner quotes are doubled; -1 if there is none. */
function closing(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  return end;
}
