import { clip, digits, HARD_ANSWER_CHARS, JsonText, ToolError } from "@refmcp/boundary/answer";
import type { Call } from "../define/call.ts";
import type { ContentBlock } from "../define/content.ts";
import type { OptionTable } from "../define/options.ts";
import { DataAnswer, type Tool, type ToolOutline } from "../define/tool.ts";
import { describeError, faultError, ProtocolError } from "../engine/errors.ts";
import { isObject } from "../engine/message.ts";
import type { ClientRequest } from "../engine/request.ts";
import type { Revision } from "../engine/revision.ts";
import type { CallToolResult } from "../engine/wire.ts";
import type { Log } from "../log.ts";
import type { Apps, ConfirmedCall } from "./apps.ts";
import { parseArguments, withListedNames } from "./arguments.ts";
import { runHandler } from "./call.ts";
import { ConfirmationNeeded, InputRequired } from "./questions.ts";
import type { Runtime } from "./runtime.ts";

/** The key in a result's `_meta` with an error's kind and code, for programs. */
const ERROR_META = "io.github.refmcp/error";

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

/**
 * Converts a tool's return value to the client's result. Data is checked against `output`, stripped of unknown keys (a
 * client rejects an answer with them) and sent both as `structuredContent` and as JSON text, since some hosts show
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
