import { ToolError } from "@refmcp/boundary/answer";
import { arranged } from "./places.ts";

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
  const named = Object.entries(byName).map(([name, value]) => [name, bindable(value, `parameter ${name}`)]);
  return [...bound, Object.fromEntries(named)];
}

function bindable(value: unknown, where: string): unknown {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number") return numberOf(value, where);
  if (typeof value === "object" && "base64" in value && typeof value.base64 === "string" && isBlob(value))
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
    ([key, one]) => key === "base64" || (key === "$blob" && typeof one === "number"),
  );
}
