import { ToolError } from "@refmcp/boundary/answer";
import type { Param } from "./portal.ts";

/** OIDs of json and jsonb. */
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);

/** JSON values for $1, $2, … → what is sent; the server infers the types. */
export function paramsOf(values: readonly unknown[]): Param[] {
  return values.map((value, index) => paramOf(value, index + 1));
}

function paramOf(value: unknown, position: number): Param {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case "string":
      return text(value, position);
    case "number":
      return String(exact(value, position));
    case "boolean":
      return String(value);
    default:
      requireExact(value, position);
      // An array is JSON for a jsonb parameter, and a PostgreSQL array for int[].
      return {
        encode: (type) =>
          text(
            JSON_TYPES.has(type) || !Array.isArray(value) ? JSON.stringify(value) : arrayText(value),
            position,
          ),
      };
  }
}

/**
 * JSON numbers are doubles, here and in most clients: an integer beyond ±2^53 may have been rounded and would match another
 * row.
 *
 * @throws ToolError `invalid`
 */
function exact(value: number, position: number): number {
  if (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))) return value;
  throw new ToolError(
    "invalid",
    `Parameter $${position} is an integer outside ±(2^53 - 1), which JSON numbers can't represent exactly.`,
    { hint: 'Pass it as text, which PostgreSQL reads exactly: "9007199254740993".' },
  );
}

function requireExact(value: unknown, position: number): void {
  if (typeof value === "number") exact(value, position);
  else if (typeof value === "object" && value !== null)
    for (const one of Object.values(value)) requireExact(one, position);
}

function text(value: string, position: number): string {
  if (!value.includes("\0") && value.isWellFormed()) return value;
  throw new ToolError(
    "invalid",
    `Parameter $${position} contains a NUL character or an unpaired surrogate, which PostgreSQL text can't contain.`,
    {
      hint: "Remove it, or pass bytes as '\\x…' for a bytea.",
    },
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
