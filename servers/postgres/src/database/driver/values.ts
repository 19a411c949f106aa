import { ToolError } from "@refmcp/boundary/answer";
import type { FieldDef } from "pg";
import { parse as parseArray } from "postgres-array";

/** A value as PostgreSQL writes it, or null. */
export type Cell = string | null;
export type Row = readonly Cell[];

/** A parameter: text, or a value whose text depends on the type that PostgreSQL inferred for it. */
export type Param = string | null | { encode(typeOid: number): string | null };

const INTEGER_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 26]);
const FLOAT_TYPES: ReadonlySet<number> = new Set([700, 701]);
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);

/** JSON values for $1, $2, … → what is sent; the server infers the types. */
export function paramsOf(values: readonly unknown[]): Param[] {
  return values.map((value, index) => {
    const position = index + 1;
    if (value === null || value === undefined) return null;
    requireExact(value, position);
    if (typeof value !== "object") return text(String(value), position);
    // An array is JSON for a jsonb parameter, and a PostgreSQL array for int[].
    const textFor = (type: number) =>
      Array.isArray(value) && !JSON_TYPES.has(type) ? arrayText(value) : JSON.stringify(value);
    return { encode: (type) => text(textFor(type), position) };
  });
}

/**
 * JSON numbers are doubles, here and in most clients: an integer beyond ±2^53 may have been rounded and would match another
 * row.
 *
 * @throws ToolError `invalid`
 */
function requireExact(value: unknown, position: number): void {
  if (typeof value === "object" && value !== null)
    for (const item of Object.values(value)) requireExact(item, position);
  if (typeof value !== "number" || Number.isSafeInteger(value)) return;
  if (Number.isFinite(value) && !Number.isInteger(value)) return;
  throw new ToolError(
    "invalid",
    `Parameter $${position} is an integer outside ±(2^53 - 1), which JSON numbers can't represent exactly.`,
    { hint: 'Pass it as text, which PostgreSQL reads exactly: "9007199254740993".' },
  );
}

function text(value: string, position: number): string {
  if (!value.includes("\0") && value.isWellFormed()) return value;
  throw new ToolError(
    "invalid",
    `Parameter $${position} contains a NUL character or an unpaired surrogate, which PostgreSQL text can't contain.`,
    { hint: "Remove it, or pass bytes as '\\x…' for a bytea." },
  );
}

/** PostgreSQL's own form of an array ("Array Input and Output Syntax"). */
export function arrayText(values: readonly unknown[]): string {
  const items = values.map((value) => {
    if (value === null || value === undefined) return "NULL";
    if (Array.isArray(value)) return arrayText(value);
    const item = typeof value === "object" ? JSON.stringify(value) : String(value);
    return `"${item.replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${items.join(",")}}`;
}

/** What we need to know about a column type to decode its text. */
interface ColumnType {
  /** As PostgreSQL writes it: `timestamp with time zone`. */
  readonly name: string;
  /** The element type of an array; otherwise 0. */
  readonly element: number;
  /** Separator of array elements; `;` only for boxes. */
  readonly delimiter: string;
}

/** Runs one of our own statements. */
type Ask = (
  statement: string,
  values: readonly unknown[],
) => Promise<(ColumnType & { oid: number })[]>;

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

  /** The columns of a result, and how to decode their values. */
  async columnsOf(fields: readonly FieldDef[], ask: Ask) {
    const oids = fields.map(({ dataTypeID }) => dataTypeID);
    await this.learn(oids, ask);
    const decoders = oids.map((oid) => this.decoderOf(oid));
    return {
      columns: fields.map(({ name, dataTypeID }) => ({ name, type: this.of(dataTypeID).name })),
      decoded: (row: Row) => row.map((cell, at) => decoders[at]?.(cell)),
    };
  }

  /** A type that was dropped since has values that are text. */
  of(oid: number): ColumnType {
    return this.#types.get(oid) ?? { name: `type ${oid}`, element: 0, delimiter: "," };
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
  if (oid === 16) return cell === "t";
  if (oid === 17) return cell.startsWith("\\x") ? Buffer.from(cell.slice(2), "hex") : cell;
  if (INTEGER_TYPES.has(oid)) return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
  if (FLOAT_TYPES.has(oid)) {
    const value = Number(cell);
    // JSON has no NaN, Infinity or negative zero.
    return Number.isFinite(value) && !Object.is(value, -0) ? value : cell;
  }
  return JSON_TYPES.has(oid) ? decodeJson(cell) : cell;
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
