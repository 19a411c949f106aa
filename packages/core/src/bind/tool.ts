import { clip, nearest, oneLine, ToolError } from "@refmcp/boundary/answer";
import type * as z from "zod";
import type { Call } from "../define/call.ts";
import type { OptionTable } from "../define/options.ts";
import type { Awaitable, LazyTool, Tool, ToolFacts } from "../define/tool.ts";
import { invalidParams, ProtocolError } from "../engine/errors.ts";
import { isObject, show } from "../engine/message.ts";
import type { ClientRequest } from "../engine/request.ts";
import type { CallToolResult } from "../engine/wire.ts";
import { type Apps, type ConfirmedCall, canAskInView } from "./apps.ts";
import { runHandler } from "./call.ts";
import { ConfirmationNeeded, InputRequired } from "./questions/questions.ts";
import { errorResult, resultFor, resultOf } from "./result.ts";
import type { Runtime } from "./runtime.ts";

/**
 * Finds a tool by its name or an older one.
 *
 * @returns a function that returns the tool, or a promise while it loads; undefined if there is none.
 */
export function toolsByName<Context>(tools: readonly (Tool<Context> | LazyTool<Context>)[]) {
  const byName = new Map<string, Tool<Context> | LazyTool<Context>>();
  const add = ({ name, aliases = [] }: ToolFacts, tool: Tool<Context> | LazyTool<Context>) => {
    for (const known of [name, ...aliases]) byName.set(known, tool);
  };
  for (const tool of tools) add(tool, tool);
  return (name: string): Awaitable<Tool<Context>> | undefined => {
    const tool = byName.get(name);
    if (tool === undefined || !("load" in tool)) return tool;
    return tool.load().then((loaded) => {
      add(tool, loaded);
      return loaded;
    });
  };
}

/** -32602 for an unknown name (MCP, "Tools: error handling"), with similar names. */
export function unknownName(
  kind: "tool" | "prompt",
  name: string,
  known: readonly string[],
): ProtocolError {
  const near = nearest(name, known);
  const suggestion =
    near.length === 0 ? `See ${kind}s/list.` : `Did you mean ${near.join(" or ")}?`;
  return new ProtocolError(invalidParams(`Unknown ${kind} ${show(name)}. ${suggestion}`));
}

/**
 * Runs one `tools/call`. Every failure of the tool becomes a result that the agent can read.
 *
 * @param apps asks in a view, if the client shows views.
 */
export function callTool<Context>(
  runtime: Runtime<Context, OptionTable>,
  tool: Tool<Context>,
  request: ClientRequest,
  apps?: Apps<Context>,
): Promise<CallToolResult | InputRequired> {
  const given = withListedNames(
    tool,
    isObject(request.params.arguments) ? request.params.arguments : {},
  );
  return runTool(runtime, { tool, given, confirmed: new Set() }, request, apps);
}

/** Runs the call that the user confirmed in a view (MCP Apps), or reports that they declined. */
export async function answerConfirmation<Context>(
  runtime: Runtime<Context, OptionTable>,
  request: ClientRequest,
  apps: Apps<Context>,
): Promise<CallToolResult | InputRequired> {
  try {
    const call = apps.answered(request);
    if (call !== undefined) return await runTool(runtime, call, request, apps);
    const content = [{ type: "text" as const, text: "The user declined. Nothing was changed." }];
    return resultFor(request.revision, { content });
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return resultFor(request.revision, errorResult(apps.tool.name, error, runtime.log));
  }
}

async function runTool<Context>(
  runtime: Runtime<Context, OptionTable>,
  { tool, given, confirmed }: ConfirmedCall<Context>,
  request: ClientRequest,
  apps: Apps<Context> | undefined,
): Promise<CallToolResult | InputRequired> {
  try {
    const input = parseArguments(tool.name, tool.input, given);
    const subject = () => `${tool.name} ${JSON.stringify(given)}`;
    const handler = (context: Context, call: Call) => tool.run(input, context, call);
    const asksInView = apps?.asks(request.client.capabilities) && canAskInView(tool);
    const returned = await runHandler(
      runtime,
      request,
      subject,
      handler,
      asksInView ? confirmed : undefined,
    );
    if (returned instanceof InputRequired) return returned;
    return resultFor(request.revision, resultOf(tool, returned));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof ConfirmationNeeded && apps !== undefined)
      return apps.shown({ tool, given, confirmed: error.confirmed }, error, request);
    return resultFor(request.revision, errorResult(tool.name, error, runtime.log));
  }
}

/** Arguments under their listed names. If both names are given, the alias is kept, and rejected as unknown. */
function withListedNames(
  { argumentAliases }: Pick<ToolFacts, "argumentAliases">,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (argumentAliases === undefined) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      const listed = Object.hasOwn(argumentAliases, key) ? argumentAliases[key] : undefined;
      return [listed === undefined || Object.hasOwn(given, listed) ? key : listed, value];
    }),
  );
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
  given: Readonly<Record<string, unknown>> | undefined,
): z.output<Input> {
  // zod ignores this key, even in strict mode.
  const hasProto = given !== undefined && Object.hasOwn(given, "__proto__");
  const parsed = input.safeParse(withoutNulls(input, given ?? {}), { reportInput: true });
  if (parsed.success && !hasProto) return parsed.data;
  const lines = hasProto ? [unknownArgument("__proto__", "", Object.keys(input.shape))] : [];
  let count = lines.length;
  for (const issue of parsed.error?.issues ?? []) {
    const remaining = MAX_PROBLEMS - lines.length;
    count += issue.code === "unrecognized_keys" ? issue.keys.length : 1;
    if (remaining > 0) lines.push(...describeIssue(issue, input, remaining));
  }
  const more = count > lines.length ? `\n- and ${count - lines.length} more` : "";
  throw new ToolError(
    "invalid",
    `Invalid arguments for ${name}:\n${lines.map((line) => `- ${line}`).join("\n")}${more}`,
  );
}

function withoutNulls(
  input: z.ZodObject,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!Object.values(given).includes(null)) return given;
  return Object.fromEntries(
    Object.entries(given).filter(([key, value]) => {
      const field = Object.hasOwn(input.shape, key) ? input.shape[key] : undefined;
      return (
        value !== null || field === undefined || accepts(field, null) || !accepts(field, undefined)
      );
    }),
  );
}

function accepts(field: z.core.$ZodType, value: unknown): boolean {
  return (
    "safeParse" in field &&
    typeof field.safeParse === "function" &&
    field.safeParse(value).success === true
  );
}

function describeIssue(issue: z.core.$ZodIssue, input: z.ZodObject, remaining: number): string[] {
  const where =
    issue.path.length === 0 ? "arguments" : oneLine(clip(issue.path.join("."), MAX_SHOWN_CHARS));
  const value = issue.input === undefined ? "nothing" : shown(issue.input);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys
        .slice(0, remaining)
        .map((key) =>
          unknownArgument(key, issue.path.length === 0 ? "" : where, namesAt(input, issue.path)),
        );
    case "invalid_type":
      return [`${where}: expected ${article(issue.expected)}, got ${value}.`];
    case "invalid_value":
      return [
        `${where}: expected ${issue.values.map((option) => shown(option)).join(" or ")}, got ${value}.`,
      ];
    case "too_small":
      return [
        `${where}: expected ${bound("at least", issue.minimum, issue.origin)}, got ${value}.`,
      ];
    case "too_big":
      return [`${where}: expected ${bound("at most", issue.maximum, issue.origin)}, got ${value}.`];
    default:
      return [`${where}: ${issue.message}, got ${value}.`];
  }
}

/** The names that the object at a path of the input may have. */
function namesAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const [key, ...rest] = path;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
      return namesAt(def.innerType, path);
    case "union":
      return def.options.flatMap((option) => namesAt(option, path));
    case "array":
      return namesAt(def.element, rest);
    case "record":
      return namesAt(def.valueType, rest);
    case "object": {
      const field = def.shape[String(key)];
      return key === undefined
        ? Object.keys(def.shape)
        : field === undefined
          ? []
          : namesAt(field, rest);
    }
    default:
      return [];
  }
}

/** @param below the path of the object with the argument, "" at the top level. */
function unknownArgument(key: string, below: string, known: readonly string[]): string {
  const [near] = nearest(key, known);
  const suggestion = near === undefined ? "" : ` Did you mean ${near}?`;
  if (below !== "") return `${below}: unknown argument ${shown(key)}.${suggestion}`;
  const expected = known.length === 0 ? "It takes no arguments." : `Expected: ${known.join(", ")}.`;
  return `unknown argument ${shown(key)}.${suggestion} ${expected}`;
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

const MAX_VALUES_SHOWN = 50;
const MAX_SHOWN_CHARS = 80;

/** A value as JSON on one line, truncated if long; for a large structure, only its kind. */
function shown(value: unknown): string {
  let left = MAX_VALUES_SHOWN;
  try {
    const json = JSON.stringify(value, (_key, inner: unknown) => {
      left -= 1;
      if (left < 0) throw new RangeError("too large to show");
      return typeof inner === "string" ? clip(inner, MAX_SHOWN_CHARS) : inner;
    });
    const line = oneLine(json ?? String(value));
    return line.length <= MAX_SHOWN_CHARS ? line : `${clip(line, MAX_SHOWN_CHARS - 3)}…`;
  } catch {
    return Array.isArray(value) ? "a long array" : "a large object";
  }
}
