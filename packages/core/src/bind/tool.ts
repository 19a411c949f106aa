import { nearest } from "../answer/errors.ts";
import type { OptionTable } from "../define/options.ts";
import type { Awaitable, LazyTool, Tool } from "../define/tool.ts";
import { invalidParams, ProtocolError } from "../protocol/errors.ts";
import { isObject, show } from "../protocol/messages.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { CallToolResult } from "../protocol/wire.ts";
import { InputRequired } from "./asking.ts";
import { runHandler } from "./call.ts";
import { parseArguments } from "./input.ts";
import { errorResult, resultFor, resultOf } from "./result.ts";
import type { Runtime } from "./runtime.ts";

/** The tools that can be called, by their names and their older names. */
export class ToolIndex<Context> {
  readonly #tools = new Map<string, Tool<Context> | LazyTool<Context>>();

  constructor(tools: readonly (Tool<Context> | LazyTool<Context>)[]) {
    for (const tool of tools)
      for (const name of [tool.name, ...(tool.aliases ?? [])]) this.#tools.set(name, tool);
  }

  /** The tool, or its loading; undefined where there is none. */
  find(name: string): Awaitable<Tool<Context>> | undefined {
    const tool = this.#tools.get(name);
    if (tool === undefined || !("load" in tool)) return tool;
    return tool.load().then((loaded) => {
      for (const known of [tool.name, ...(tool.aliases ?? [])]) this.#tools.set(known, loaded);
      return loaded;
    });
  }
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
