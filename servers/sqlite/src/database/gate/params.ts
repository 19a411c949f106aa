import { ToolError } from "@refmcp/boundary/answer";
import { tokenize } from "./tokens.ts";

/**
 * Values in the form that the driver binds to `?`, `?1`, `$1` and `:name`: whole numbers as integers, booleans as 0 and 1,
 * `{ "base64": "…" }` as bytes.
 *
 * @throws ToolError `invalid` for a value of a type that SQLite does not have, and if the values don't match the statement
 */
export function paramsOf(sql: string, values: readonly unknown[]): unknown[] {
  const { inOrder, byName } = arranged(sql, values);
  const bound = inOrder.map((value, index) => bindable(value, `params[${index}]`));
  if (byName === undefined) return bound;
  const named = Object.entries(byName).map(([name, value]) => [
    name,
    bindable(value, `parameter ${name}`),
  ]);
  return [...bound, Object.fromEntries(named)];
}

function bindable(value: unknown, where: string): unknown {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number") return numberOf(value, where);
  if (
    typeof value === "object" &&
    "base64" in value &&
    typeof value.base64 === "string" &&
    isBlob(value)
  )
    return bytesOf(value.base64, where);
  throw new ToolError(
    "invalid",
    `${where} is ${Array.isArray(value) ? "a list" : "an object"}, which SQLite has no type for.`,
    {
      hint: 'Pass text, a number, true, false, null, or { "base64": "…" } for bytes. Pass JSON as text.',
    },
  );
}

/**
 * JSON numbers are parsed as doubles, here and by most clients: beyond ±2^53 an integer may have been rounded on the way,
 * and would match another row.
 */
function numberOf(value: number, where: string): bigint | number {
  if (Number.isSafeInteger(value)) return BigInt(value);
  if (Number.isFinite(value) && !Number.isInteger(value)) return value;
  throw new ToolError(
    "invalid",
    `${where} is an integer outside ±(2^53 - 1), which JSON numbers can't represent exactly.`,
    {
      hint: 'Pass it as text and write CAST(? AS INTEGER), or CAST(? AS REAL): "9223372036854775807", "1e300".',
    },
  );
}

function bytesOf(base64: string, where: string): Buffer {
  const bytes = Buffer.from(base64, "base64");
  const plain = (text: string) => text.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  if (plain(bytes.toString("base64")) === plain(base64)) return bytes;
  throw new ToolError("invalid", `${where} is not valid base64.`, {
    hint: "Encode the bytes as base64 (RFC 4648) without line breaks.",
  });
}

/** A blob as in an answer: its bytes, and perhaps its size. */
function isBlob(value: object): boolean {
  return Object.entries(value).every(
    ([key, member]) => key === "base64" || (key === "$blob" && typeof member === "number"),
  );
}

/** The parameters of a statement, in order of first appearance; names are without their prefix. */
interface Places {
  /** The number of plain question marks. */
  readonly anonymous: number;
  /** `?1`, `:name`, `@name` and `$name` (SQLite, "Parameters"). */
  readonly named: readonly string[];
  /** Numbers below the highest `?NNN` that are not used: SQLite counts them as unnamed parameters. */
  readonly gaps: readonly number[];
}

/** @param sql one statement */
function placesOf(sql: string): Places {
  const named = new Set<string>();
  const slots = new Set<number>();
  let anonymous = 0;
  const tokens = tokenize(sql);
  for (const [at, { kind, text }] of tokens.entries()) {
    const next = tokens[at + 1];
    if (kind !== "other" || !/^[?:@$]$/.test(text)) continue;
    const isName = next?.kind === "number" || (text !== "?" && next?.kind === "word");
    if (isName) named.add(next.text);
    if (isName && text === "?") slots.add(Number(next.text));
    else if (text === "?") anonymous += 1;
  }
  const max = Math.min(Math.max(0, ...slots), 32_766);
  const gaps = Array.from({ length: max }, (_, at) => at + 1).filter((place) => !slots.has(place));
  return { anonymous, named: [...named], gaps };
}

/**
 * Values in the form that the driver binds: in order for `?`, by number for `?1` and `$1`, by name for `:name` (given as one
 * object, or in the order of the names).
 *
 * @throws ToolError `invalid` if they don't match the statement
 */
function arranged(
  sql: string,
  values: readonly unknown[],
): { readonly inOrder: readonly unknown[]; readonly byName?: Readonly<Record<string, unknown>> } {
  const places = placesOf(sql);
  const { anonymous, named, gaps } = places;
  if (named.length > 0 && anonymous > 0)
    throw new ToolError("invalid", "The statement mixes ? with named parameters.", {
      hint: "Use one or the other.",
    });
  const [first] = values;
  const isObject = typeof first === "object" && first !== null && !Array.isArray(first);
  const isBlob = isObject && "base64" in first && !named.includes("base64");
  if (values.length === 1 && isObject && !isBlob && !isNumbered(places))
    return { inOrder: [], byName: byNameIn(first, named) };
  const wanted = wantedBy(places);
  if (values.length !== wanted) {
    const how =
      named.length === 0
        ? "one for each ? in order"
        : isNumbered(places)
          ? "the first for ?1 or $1, and so on"
          : `for ${named.join(", ")}: in this order, or as one object of names and values`;
    const counted = `${wanted} ${wanted === 1 ? "value" : "values"}`;
    const count = `${values.length} ${values.length === 1 ? "was" : "were"}`;
    throw new ToolError("invalid", `The statement takes ${counted}, but ${count} given.`, {
      hint: `Pass ${how}.`,
    });
  }
  if (named.length === 0) return { inOrder: values };
  const entries = named.map((name, at) => [
    name,
    values[isNumbered(places) ? Number(name) - 1 : at],
  ]);
  return { inOrder: gaps.map((place) => values[place - 1]), byName: Object.fromEntries(entries) };
}

/** The values of an object for named parameters. @throws ToolError unless it has exactly these */
function byNameIn(parameters: object, named: readonly string[]): Readonly<Record<string, unknown>> {
  const values = new Map(
    Object.entries(parameters).map(([name, value]) => [name.replace(/^[:@$]/, ""), value]),
  );
  const missing = named.filter((name) => !values.has(name));
  const unknown = [...values.keys()].filter((name) => !named.includes(name));
  const problems = [
    ...(missing.length > 0 ? [`No value for ${missing.join(", ")}.`] : []),
    ...(unknown.length > 0 ? [`The statement has no parameter ${unknown.join(", ")}.`] : []),
  ];
  if (problems.length === 0) return Object.fromEntries(values);
  throw new ToolError("invalid", problems.join(" "), {
    hint: `Its parameters are ${named.join(", ")}.`,
  });
}

/** Whether there are only `?`, or only `?1` and `$1`. */
const isNumbered = ({ named }: Places) => named.every((name) => /^\d+$/.test(name));

const wantedBy = (places: Places) =>
  isNumbered(places)
    ? Math.max(places.anonymous, ...places.named.map(Number))
    : places.named.length;

/** A NULL for each parameter, for a plan that does not depend on the values. */
export const nullsFor = (sql: string): null[] => Array(wantedBy(placesOf(sql))).fill(null);
