import { parse as parseArray } from "postgres-array";
import type { Cell } from "./portal.ts";

/** What we need to know about a column type to decode its text. */
export interface ColumnType {
  /** As PostgreSQL writes it: `timestamp with time zone`. */
  readonly name: string;
  /** The element type of an array; otherwise 0. */
  readonly element: number;
  /** Separator of array elements; `;` only for boxes. */
  readonly delimiter: string;
}

const scalar = (name: string): ColumnType => ({ name, element: 0, delimiter: "," });

/** Runs one of our own statements. */
type Ask = (statement: string, values: readonly unknown[]) => Promise<(ColumnType & { oid: number })[]>;

/** The types of one database, each looked up once. */
export class TypeCatalog {
  readonly #types = new Map<number, ColumnType>();

  /** Looks up unknown types and their element types. */
  async learn(oids: readonly number[], ask: Ask): Promise<void> {
    const missing = oids.filter((oid) => !this.#types.has(oid));
    if (missing.length === 0) return;
    const rows = await ask(
      `SELECT t.oid, pg_catalog.format_type(t.oid, NULL) AS name, CASE WHEN e.typarray = t.oid THEN e.oid ELSE 0 END AS element, t.typdelim AS delimiter
       FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem WHERE t.oid = ANY($1::oid[])`,
      [missing],
    );
    for (const { oid, ...type } of rows) this.#types.set(oid, type);
    const elements = rows.map(({ element }) => element).filter((oid) => oid !== 0);
    await this.learn(elements, ask);
  }

  /** A type that was dropped since has values that are text. */
  of(oid: number): ColumnType {
    return this.#types.get(oid) ?? scalar(`type ${oid}`);
  }

  /** Text on the wire → a value that JSON can represent without loss; bytes as a Buffer. */
  decoderOf(oid: number): (cell: Cell) => unknown {
    const { element, delimiter } = this.of(oid);
    if (element === 0) return (cell) => (cell === null ? null : decodeScalar(cell, oid));
    // The library only supports commas.
    if (delimiter !== ",") return (cell) => cell;
    const inner = this.decoderOf(element);
    return (cell) => (cell === null ? null : parseArray(cell, inner));
  }
}

function decodeScalar(cell: string, oid: number): unknown {
  switch (oid) {
    case 16:
      return cell === "t";
    case 17:
      return cell.startsWith("\\x") ? Buffer.from(cell.slice(2), "hex") : cell;
    case 20:
    case 21:
    case 23:
    case 26: {
      const value = Number(cell);
      return Number.isSafeInteger(value) ? value : cell;
    }
    case 700:
    case 701: {
      const value = Number(cell);
      // JSON has no NaN, Infinity or negative zero.
      return Number.isFinite(value) && !Object.is(value, -0) ? value : cell;
    }
    case 114:
    case 3802:
      return decodeJson(cell);
    default:
      return cell;
  }
}

/** Parses JSON unless it contains a number that JavaScript would round; then returns its text. */
function decodeJson(text: string): unknown {
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  for (const [number] of outside.matchAll(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    if (number.replace(/\D/g, "").length > 15 || /[eE]/.test(number)) return text;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
