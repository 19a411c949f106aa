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
const array = (name: string, element: number): ColumnType => ({ name: `${name}[]`, element, delimiter: "," });

/** Common types, so that most results need no lookup (PostgreSQL's pg_type.dat). */
const KNOWN: ReadonlyMap<number, ColumnType> = new Map<number, ColumnType>([
  [16, scalar("boolean")],
  [17, scalar("bytea")],
  [18, scalar('"char"')],
  [19, scalar("name")],
  [20, scalar("bigint")],
  [21, scalar("smallint")],
  [23, scalar("integer")],
  [25, scalar("text")],
  [26, scalar("oid")],
  [114, scalar("json")],
  [142, scalar("xml")],
  [700, scalar("real")],
  [701, scalar("double precision")],
  [705, scalar("unknown")],
  [790, scalar("money")],
  [869, scalar("inet")],
  [1042, scalar("character")],
  [1043, scalar("character varying")],
  [1082, scalar("date")],
  [1083, scalar("time without time zone")],
  [1114, scalar("timestamp without time zone")],
  [1184, scalar("timestamp with time zone")],
  [1186, scalar("interval")],
  [1266, scalar("time with time zone")],
  [1700, scalar("numeric")],
  [2205, scalar("regclass")],
  [2249, scalar("record")],
  [2278, scalar("void")],
  [2950, scalar("uuid")],
  [3802, scalar("jsonb")],
  [1000, array("boolean", 16)],
  [1001, array("bytea", 17)],
  [1003, array("name", 19)],
  [1005, array("smallint", 21)],
  [1007, array("integer", 23)],
  [1009, array("text", 25)],
  [1015, array("character varying", 1043)],
  [1016, array("bigint", 20)],
  [1021, array("real", 700)],
  [1022, array("double precision", 701)],
  [1115, array("timestamp without time zone", 1114)],
  [1182, array("date", 1082)],
  [1185, array("timestamp with time zone", 1184)],
  [1231, array("numeric", 1700)],
  [2951, array("uuid", 2950)],
  [3807, array("jsonb", 3802)],
]);

/** Runs one of our own statements and returns its rows as text. */
export type Ask = (statement: string) => Promise<readonly (readonly Cell[])[]>;

/** The types of one database: common ones built in, others looked up once. */
export class TypeCatalog {
  readonly #types = new Map(KNOWN);

  /** Looks up unknown types and their element types. */
  async learn(oids: readonly number[], ask: Ask): Promise<void> {
    const missing = oids.filter((oid) => !this.#types.has(oid));
    if (missing.length === 0) return;
    const rows = await ask(
      `SELECT t.oid, pg_catalog.format_type(t.oid, NULL), CASE WHEN t.typsubscript = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc THEN t.typelem ELSE 0 END, t.typdelim FROM pg_catalog.pg_type t WHERE t.oid IN (${missing.map(Number).join(",")})`,
    );
    for (const [oid, name, element, delimiter] of rows)
      this.#types.set(Number(oid), {
        name: name ?? "",
        element: Number(element),
        delimiter: delimiter ?? ",",
      });
    // The type was dropped since: its values are text.
    for (const oid of missing) if (!this.#types.has(oid)) this.#types.set(oid, scalar(`type ${oid}`));
    await this.learn(
      missing.map((oid) => this.of(oid).element).filter((oid) => oid !== 0),
      ask,
    );
  }

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
