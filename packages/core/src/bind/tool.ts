import {
  clip,
  digits,
  HARD_ANSWER_CHARS,
  JsonText,
  oneLine,
  suggestion,
  ToolError,
} from "@refmcp/boundary/answer";
import type * as z from "zod";
import type { Call } from "../define/call.ts";
import type { ContentBlock } from "../define/content.ts";
import type { OptionTable } from "../define/options.ts";
import { DataAnswer, type Tool, type ToolOutline } from "../define/tool.ts";
import { describeError, faultError, invalidParams, ProtocolError } from "../engine/errors.ts";
import { isObject, show } from "../engine/message.ts";
import type { ClientRequest } from "../engine/request.ts";
import type { Revision } from "../engine/revision.ts";
import type { CallToolResult } from "../engine/wire.ts";
import type { Log } from "../log.ts";
import type { Apps, ConfirmedCall } from "./apps.ts";
import { runHandler } from "./call.ts";
import { ConfirmationNeeded, InputRequired } from "./questions.ts";
import type { Runtime } from "./runtime.ts";

/** The key in a result's `_meta` with an error's kind and code, for programs. */
const ERROR_META = "io.github.refmcp/error";

/** -32602 for an unknown name (MCP, "Tools: error handling"), with similar names. */
export function unknownName(
  kind: "tool" | "prompt",
  name: string,
  names: readonly string[],
): ProtocolError {
  const cure = suggestion(name, names) || ` See ${kind}s/list.`;
  return new ProtocolError(invalidParams(`Unknown ${kind} ${show(name)}.${cure}`));
}

/** The code of what an outline lists by this name. */
export function codeOf<Entry extends { readonly name: string }>(
  entries: readonly Entry[] | undefined,
  name: string,
): Entry {
  const entry = entries?.find((candidate) => candidate.name === name);
  if (entry === undefined) throw new TypeError(`the outline has ${name}, but the server does not`);
  return entry;
}

/**
 * Runs one `tools/call`. Every failure of the tool becomes a result that the agent can read.
 *
 * @param apps asks in a view, if the client shows views.
 */
export function callTool<Context>(
  runtime: Runtime<Context, OptionTable>,
  outline: ToolOutline,
  request: ClientRequest,
  apps: Apps,
): Promise<CallToolResult | InputRequired> {
  const { arguments: argumentsParam } = request.params;
  const args = withListedNames(outline, isObject(argumentsParam) ? argumentsParam : {});
  return runTool(runtime, { tool: outline, args, confirmedKeys: new Set<string>() }, request, apps);
}

/** Runs the call that the user confirmed in a view (MCP Apps), or reports that they declined. */
export async function answerConfirmation<Context>(
  runtime: Runtime<Context, OptionTable>,
  request: ClientRequest,
  apps: Apps,
): Promise<CallToolResult | InputRequired> {
  try {
    const call = apps.takeAnswer(request);
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
  { tool: outline, args, confirmedKeys }: ConfirmedCall,
  request: ClientRequest,
  apps: Apps,
): Promise<CallToolResult | InputRequired> {
  const { client, revision } = request;
  try {
    const { tools } = runtime.loadedServer ?? (await runtime.load());
    const tool = codeOf(tools, outline.name);
    const input = parseArguments(tool.name, tool.input, args);
    const subject = () => `${tool.name} ${JSON.stringify(args)}`;
    const handler = (context: Context, call: Call) => tool.run(input, context, call);
    const asksInView = tool.effect === "destroy" && apps.asksInView(tool, client.capabilities);
    const inView = asksInView ? confirmedKeys : undefined;
    const value = await runHandler(runtime, request, subject, handler, inView);
    if (value instanceof InputRequired) return value;
    return resultFor(revision, resultOf(tool, value));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof ConfirmationNeeded)
      return apps.confirmationResult({ tool: outline, args }, error, request);
    return resultFor(revision, errorResult(outline.name, error, runtime.log));
  }
}

/** Arguments under their listed names. If both names are given, the alias is kept, and rejected as unknown. */
function withListedNames(
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

/**
 * Converts a tool's return value to the client's result. Data is checked against `output`, stripped of unknown keys (a
 * client rejects an answer that has any) and sent both as `structuredContent` and as JSON text, since some hosts show
 * one and some the other. `JsonText` is sent unchanged.
 *
 * @throws ToolError `too_large` if the answer exceeds the hard limit of 80,000 characters.
 * @throws TypeError if the tool violated its own contract: an internal error.
 */
function resultOf(tool: Tool<unknown>, value: unknown): CallToolResult {
  if (tool.output === undefined) return { content: withinLimit(tool, contentOf(tool, value)) };
  if (value instanceof JsonText) {
    const content = withinLimit(tool, [{ type: "text", text: value.text }]);
    return { content, structuredContent: value };
  }
  const answer = value instanceof DataAnswer ? value : new DataAnswer(value, [], undefined);
  const { success, data, error } = tool.output.safeParse(answer.value);
  if (!success)
    throw new TypeError(
      `The result of ${tool.name} does not match its output schema: ${error.message}`,
    );
  const json = JSON.stringify(data);
  const text = (answer.text ?? json).toWellFormed();
  const content = withinLimit(tool, [{ type: "text", text }, ...answer.links], json.length);
  // A result with links states that it is not an error: a failed verdict is still a finished run.
  return { content, structuredContent: data, ...(value === answer ? { isError: false } : {}) };
}

function contentOf(tool: Tool<unknown>, value: unknown): ContentBlock[] {
  const blocks: unknown = typeof value === "string" ? [{ type: "text", text: value }] : value;
  if (!Array.isArray(blocks))
    throw new TypeError(`${tool.name} returned neither text nor content blocks`);
  return blocks.map((block: ContentBlock) =>
    block.type === "text" ? { ...block, text: block.text.toWellFormed() } : block,
  );
}

/** The last line of defense: a tool should itself stay within `call.budget` and offer a cursor. */
function withinLimit(
  { name }: Tool<unknown>,
  content: ContentBlock[],
  jsonLength = 0,
): ContentBlock[] {
  const lengthOf = (block: ContentBlock) => (block.type === "text" ? block.text.length : 0);
  const text = content.reduce((sum, block) => sum + lengthOf(block), 0);
  const length = Math.max(jsonLength, text);
  if (length <= HARD_ANSWER_CHARS) return content;
  throw new ToolError(
    "too_large",
    `The response of ${name} has ${digits(length)} characters; the limit is ${digits(HARD_ANSWER_CHARS)}.`,
    { hint: "Request less: a narrower path or query, or a smaller limit." },
  );
}

/**
 * Converts an error to a tool result that the agent can act on, within the hard limit. A `ToolError` is shown
 * unchanged. Anything else is an internal error: the agent gets an id, stderr gets the id and the stack.
 */
function errorResult(tool: string, error: unknown, log: Log): CallToolResult {
  const { message, hint, kind, code, cause, data } =
    error instanceof ToolError ? error : faultError(tool, error, log);
  if (cause !== undefined) {
    const why = describeError(cause);
    // What is unavailable concerns whoever runs the server, at every log level; the stack only helps to debug.
    if (kind === "unavailable") log.warning(`${tool}: ${message}: ${why.split("\n", 1)[0]}`);
    log.debug(`${tool}: ${message}: ${why}`);
  }
  const text = hint === undefined ? message : `${message}\n${hint}`;
  const isShort = data !== undefined && JSON.stringify(data).length <= HARD_ANSWER_CHARS;
  return {
    content: [{ type: "text", text: clip(text, HARD_ANSWER_CHARS).toWellFormed() }],
    isError: true,
    ...(isShort ? { structuredContent: data } : {}),
    _meta: { [ERROR_META]: { kind, ...(code === undefined ? {} : { code }) } },
  };
}

/** A content block in the form of a revision; a type that the revision does not have becomes text. */
export function blockFor({ links, audio }: Revision, block: ContentBlock): ContentBlock {
  if (block.type === "resource_link" && !links)
    return { type: "text", text: `${block.title ?? block.name}: ${block.uri}` };
  if (block.type === "audio" && !audio) {
    const text = `[audio, ${block.mimeType}: this client's protocol revision has no audio content]`;
    return { type: "text", text };
  }
  return block;
}

function resultFor(revision: Revision, result: CallToolResult): CallToolResult {
  if (revision.structuredContent) return result;
  const { structuredContent: _, ...rest } = result;
  return { ...rest, content: result.content.map((block) => blockFor(revision, block)) };
}
