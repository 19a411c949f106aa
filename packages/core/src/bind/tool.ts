import { nearest } from "../answer/errors.ts";
import { annotationsOf } from "../define/effect.ts";
import type { OptionTable } from "../define/options.ts";
import type { Tool } from "../define/tool.ts";
import { invalidParams, ProtocolError } from "../protocol/errors.ts";
import { isObject, show } from "../protocol/messages.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { CallToolResult, ListedTool } from "../protocol/wire.ts";
import { InputRequired } from "./asking.ts";
import { runHandler } from "./call.ts";
import { parseArguments } from "./input.ts";
import { errorResult, resultFor, resultOf } from "./result.ts";
import type { Runtime } from "./runtime.ts";
import { inputSchema, outputSchema } from "./schema.ts";

/** A tool as `tools/list` shows it. */
export function listedTool(tool: Tool<unknown>): ListedTool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: inputSchema(tool.input),
    ...(tool.output === undefined ? {} : { outputSchema: outputSchema(tool.output) }),
    annotations: annotationsOf(tool),
    ...(tool.meta === undefined ? {} : { _meta: tool.meta }),
  };
}

/** Finds a tool by its name or one of its older names. */
export function toolIndex<Context>(tools: readonly Tool<Context>[]): ReadonlyMap<string, Tool<Context>> {
  const index = new Map<string, Tool<Context>>();
  for (const tool of tools) for (const name of [tool.name, ...(tool.aliases ?? [])]) index.set(name, tool);
  return index;
}

/** -32602 for a name that nothing has (MCP, "Tools: error handling"), with near names. */
export function unknownName(kind: "tool" | "prompt", name: string, known: readonly string[]): ProtocolError {
  const near = nearest(name, known);
  const suggestion = near.length === 0 ? `See ${kind}s/list.` : `Did you mean ${near.join(" or ")}?`;
  return new ProtocolError(invalidParams(`Unknown ${kind} ${show(name)}. ${suggestion}`));
}

/** Runs one `tools/call`. Every failure of the tool becomes a result that the agent can read. */
export async function callTool<Context>(
  runtime: Runtime<Context, OptionTable>,
  tool: Tool<Context>,
  request: ClientRequest,
): Promise<CallToolResult | InputRequired> {
  const given = isObject(request.params.arguments) ? request.params.arguments : {};
  try {
    const input = parseArguments(tool.name, tool.input, given);
    const subject = () => `${tool.name} ${JSON.stringify(given)}`;
    const returned = await runHandler(runtime, request, subject, (context, call) =>
      tool.run(input, context, call),
    );
    return returned instanceof InputRequired
      ? returned
      : resultFor(request.revision, resultOf(tool, returned));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return resultFor(request.revision, errorResult(tool, error, runtime.log));
  }
}
