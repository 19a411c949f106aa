import {
  type CallToolResult,
  type InputRequiredResult,
  type Tool as ListedTool,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { nearest } from "../answer/errors.ts";
import { annotationsOf } from "../define/effect.ts";
import type { Tool } from "../define/tool.ts";
import { InputNeeded } from "./asking.ts";
import { parseArguments } from "./input.ts";
import { errorResult, resultOf } from "./result.ts";
import { resultFor } from "./revision.ts";
import { inputSchema, outputSchema } from "./schema.ts";
import type { Session } from "./session.ts";

/** A tool as `tools/list` shows it. */
export function listedTool(tool: Tool<unknown>): ListedTool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: inputSchema(tool.input),
    ...(tool.output === undefined ? {} : { outputSchema: outputSchema(tool.output) }),
    annotations: annotationsOf(tool),
  };
}

/** Finds a tool by its name or one of its older names. */
export function toolIndex<Context>(tools: readonly Tool<Context>[]): ReadonlyMap<string, Tool<Context>> {
  const index = new Map<string, Tool<Context>>();
  for (const tool of tools) for (const name of [tool.name, ...(tool.aliases ?? [])]) index.set(name, tool);
  return index;
}

/** -32602 for a tool that does not exist (MCP, "Tools: error handling"), with near names. */
export function unknownTool(name: string, tools: readonly Tool<never>[]): ProtocolError {
  const near = nearest(
    name,
    tools.map((tool) => tool.name),
  );
  const suggestion = near.length === 0 ? "See tools/list." : `Did you mean ${near.join(" or ")}?`;
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool ${JSON.stringify(name)}. ${suggestion}`,
  );
}

/** Runs one `tools/call`. Every failure of the tool becomes a result that the agent can read. */
export async function callTool<Context>(
  session: Session<Context>,
  tool: Tool<Context>,
  given: Readonly<Record<string, unknown>> | undefined,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { runtime } = session;
  const asking = session.asking(context, () => `${tool.name} ${JSON.stringify(given ?? {})}`);
  try {
    const input = parseArguments(tool.name, tool.input, given);
    const running = session.startCall(context, asking);
    const returned = await running.limited(async () => {
      await session.roots.settle(asking);
      return tool.run(input, await runtime.open(), running.call);
    });
    if (asking.isOpen) return await asking.inputRequired();
    return resultFor(session.version, resultOf(tool, returned));
  } catch (error) {
    if (error instanceof InputNeeded || asking.isOpen) return await asking.inputRequired();
    if (error instanceof MissingRequiredClientCapabilityError) throw error;
    return resultFor(session.version, errorResult(tool, error, runtime.log));
  }
}
