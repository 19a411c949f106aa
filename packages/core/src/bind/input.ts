import type * as z from "zod";
import { nearest, ToolError } from "../answer/errors.ts";
import { oneLine } from "../answer/untrusted.ts";

/**
 * Arguments of a call → the tool's typed input. `null` for an optional argument counts as left out, since some
 * hosts fill in every property of a schema.
 *
 * @throws ToolError `invalid` with one line for each wrong field.
 */
export function parseArguments<Input extends z.ZodObject>(
  name: string,
  input: Input,
  given: Readonly<Record<string, unknown>> | undefined,
): z.output<Input> {
  const parsed = input.safeParse(withoutNulls(input, given ?? {}), { reportInput: true });
  if (parsed.success) return parsed.data;
  const known = Object.keys(input.shape);
  const lines = parsed.error.issues.flatMap((issue) => describeIssue(issue, known));
  throw new ToolError(
    "invalid",
    `Invalid arguments for ${name}:\n${lines.map((line) => `- ${line}`).join("\n")}`,
  );
}

function withoutNulls(input: z.ZodObject, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    const field = Object.hasOwn(input.shape, key) ? input.shape[key] : undefined;
    const leftOut =
      value === null && field !== undefined && !accepts(field, null) && accepts(field, undefined);
    // Defined, not assigned: a key called __proto__ must stay an ordinary unknown argument.
    if (!leftOut)
      Object.defineProperty(kept, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return kept;
}

function accepts(field: z.core.$ZodType, value: unknown): boolean {
  return (
    "safeParse" in field && typeof field.safeParse === "function" && field.safeParse(value).success === true
  );
}

function describeIssue(issue: z.core.$ZodIssue, known: readonly string[]): string[] {
  const where = issue.path.length === 0 ? "arguments" : issue.path.map(String).join(".");
  const value = issue.input === undefined ? "nothing" : shown(issue.input);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => {
        const [near] = nearest(key, known);
        const prefix = issue.path.length === 0 ? "" : `${where}: `;
        const expected =
          issue.path.length > 0
            ? ""
            : known.length === 0
              ? " It takes none."
              : ` Expected: ${known.join(", ")}.`;
        return `${prefix}unknown argument ${shown(key)}.${near === undefined ? "" : ` Did you mean ${near}?`}${expected}`;
      });
    case "invalid_type":
      return [`${where}: expected ${article(issue.expected)}, got ${value}.`];
    case "invalid_value":
      return [
        `${where}: expected ${issue.values.map((option) => shown(option)).join(" or ")}, got ${value}.`,
      ];
    case "too_small":
      return [`${where}: expected ${bound("at least", issue.minimum, issue.origin)}, got ${value}.`];
    case "too_big":
      return [`${where}: expected ${bound("at most", issue.maximum, issue.origin)}, got ${value}.`];
    default:
      return [`${where}: ${issue.message}, got ${value}.`];
  }
}

function article(expected: string): string {
  if (expected === "int") return "a whole number";
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}

function bound(relation: string, limit: number | bigint, origin: string): string {
  if (origin === "string") return `${relation} ${limit} characters`;
  if (origin === "array") return `${relation} ${limit} items`;
  return `${relation} ${limit}`;
}

/** A value as JSON on one line, cut where it is long. */
function shown(value: unknown): string {
  const json = oneLine(JSON.stringify(value) ?? String(value));
  return json.length <= 80 ? json : `${json.slice(0, 77)}…`;
}
