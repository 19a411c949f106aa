import { clip, oneLine, suggestion, ToolError } from "@refmcp/boundary/answer";
import type * as z from "zod";
import type { ToolOutline } from "../define/tool.ts";
import { invalidParams, ProtocolError } from "../engine/errors.ts";
import { show } from "../engine/message.ts";

/** -32602 for an unknown name (MCP, "Tools: error handling"), with similar names. */
export function unknownName(
  kind: "tool" | "prompt",
  name: string,
  names: readonly string[],
): ProtocolError {
  const cure = suggestion(name, names) || ` See ${kind}s/list.`;
  return new ProtocolError(invalidParams(`Unknown ${kind} ${show(name)}.${cure}`));
}

/** Arguments under their listed names. If both names are given, the alias is kept, and rejected as unknown. */
export function withListedNames(
  { argumentAliases }: ToolOutline,
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (argumentAliases === undefined) return args;
  const listedArguments = { ...args };
  for (const [alias, name] of Object.entries(argumentAliases)) {
    if (!Object.hasOwn(args, alias) || Object.hasOwn(args, name)) continue;
    listedArguments[name] = args[alias];
    delete listedArguments[alias];
  }
  return listedArguments;
}

const MAX_PROBLEMS = 20;

/**
 * Parses a call's arguments into the tool's typed input. `null` for an optional argument counts as omitted, since some
 * hosts fill in every property of a schema.
 *
 * @throws ToolError `invalid` with a line for each invalid field, at most 20.
 */
export function parseArguments<Input extends z.ZodObject>(
  name: string,
  input: Input,
  args: Readonly<Record<string, unknown>>,
): z.output<Input> {
  // zod ignores this key, even in strict mode.
  const hasProto = Object.hasOwn(args, "__proto__");
  const valid = input.safeParse(args);
  if (valid.success && !hasProto) return valid.data;
  /** The names that an object with unknown ones may have. */
  const expected = new Map<readonly string[], readonly string[]>();
  const parse = (values: typeof args) =>
    input.safeParse(values, {
      reportInput: true,
      error(issue) {
        if (issue.code === "unrecognized_keys")
          expected.set(issue.keys, Object.keys(Object(issue.inst?._zod.def).shape ?? {}));
        return undefined;
      },
    });
  let result = parse(args);
  const nulls = result.error?.issues.filter(
    ({ path, input }) => path.length === 1 && input === null,
  );
  if (nulls !== undefined && nulls.length > 0) {
    const names = nulls.map(({ path }) => path[0]);
    const withoutNulls = Object.entries(args).filter(([key]) => !names.includes(key));
    result = parse(Object.fromEntries(withoutNulls));
  }
  if (result.success && !hasProto) return result.data;
  const problems = (result.error?.issues ?? []).flatMap((issue) =>
    issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => () => unknownArgument(key, issue.path, expected.get(issue.keys)))
      : [() => describeIssue(issue)],
  );
  if (hasProto) problems.unshift(() => unknownArgument("__proto__", [], Object.keys(input.shape)));
  const lines = problems.slice(0, MAX_PROBLEMS).map((describe) => `- ${describe()}`);
  if (problems.length > lines.length) lines.push(`- and ${problems.length - lines.length} more`);
  throw new ToolError("invalid", `Invalid arguments for ${name}:\n${lines.join("\n")}`);
}

function unknownArgument(
  key: string,
  path: readonly PropertyKey[],
  keys: readonly string[] = [],
): string {
  const what = `unknown argument ${showValue(key)}.${suggestion(key, keys)}`;
  if (path.length > 0) return `${placeOf(path)}: ${what}`;
  const rule = keys.length === 0 ? "It takes no arguments." : `Expected: ${keys.join(", ")}.`;
  return `${what} ${rule}`;
}

function describeIssue(issue: z.core.$ZodIssue): string {
  return `${placeOf(issue.path)}: ${expectation(issue)}, got ${showValue(issue.input)}.`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "int") return "expected a whole number";
      return `expected ${/^[aeiou]/.test(issue.expected) ? "an" : "a"} ${issue.expected}`;
    case "invalid_value":
      return `expected ${issue.values.map(showValue).join(" or ")}`;
    case "too_small":
      return `expected at least ${issue.minimum}${UNITS[issue.origin] ?? ""}`;
    case "too_big":
      return `expected at most ${issue.maximum}${UNITS[issue.origin] ?? ""}`;
    default:
      return issue.message;
  }
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "arguments" : oneLine(clip(path.join("."), 80));
}

const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " items" };

function showValue(value: unknown): string {
  return value === undefined ? "nothing" : oneLine(show(value));
}
