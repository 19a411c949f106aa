import { nearest } from "@refmcp/boundary/answer";
import type { Call } from "../define/call.ts";
import type { OptionTable } from "../define/options.ts";
import type { Awaitable, LazyTool, Tool, ToolFacts } from "../define/tool.ts";
import { invalidParams, ProtocolError } from "../protocol/errors.ts";
import { isObject, show } from "../protocol/messages.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { CallToolResult } from "../protocol/wire.ts";
import type { Apps } from "./apps.ts";
import { CardNeeded, InputRequired } from "./asking.ts";
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

  /** The tool, or a promise while it loads; undefined if there is none. */
  find(name: string): Awaitable<Tool<Context>> | undefined {
    const tool = this.#tools.get(name);
    if (tool === undefined || !("load" in tool)) return tool;
    return tool.load().then((loaded) => {
      for (const known of [tool.name, ...(tool.aliases ?? [])]) this.#tools.set(known, loaded);
      return loaded;
    });
  }
}

/** -32602 for an unknown name (MCP, "Tools: error handling"), with similar names. */
export function unknownName(kind: "tool" | "prompt", name: string, known: readonly string[]): ProtocolError {
  const near = nearest(name, known);
  const suggestion = near.length === 0 ? `See ${kind}s/list.` : `Did you mean ${near.join(" or ")}?`;
  return new ProtocolError(invalidParams(`Unknown ${kind} ${show(name)}. ${suggestion}`));
}

/** Whether a card may ask a tool's questions: its view has to be declared before the call, for every call. */
export function hasCard({ effect, view }: ToolFacts): boolean {
  return effect === "destroy" && view === undefined;
}

/** A call with its arguments, and the questions that the user confirmed on a card. */
export interface ApprovedCall<Context> {
  readonly tool: Tool<Context>;
  readonly given: Readonly<Record<string, unknown>>;
  readonly approved: ReadonlySet<string>;
}

/**
 * Runs one `tools/call`. Every failure of the tool becomes a result that the agent can read.
 *
 * @param apps shows cards, if the client supports them.
 */
export function callTool<Context>(
  runtime: Runtime<Context, OptionTable>,
  tool: Tool<Context>,
  request: ClientRequest,
  apps?: Apps<Context>,
): Promise<CallToolResult | InputRequired> {
  const given = withListedNames(tool, isObject(request.params.arguments) ? request.params.arguments : {});
  return runTool(runtime, { tool, given, approved: new Set() }, request, apps);
}

/** Runs the call that the user confirmed on a card (MCP Apps), or reports that they declined. */
export async function answerCard<Context>(
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
    return resultFor(request.revision, errorResult({ name: apps.confirmName }, error, runtime.log));
  }
}

async function runTool<Context>(
  runtime: Runtime<Context, OptionTable>,
  { tool, given, approved }: ApprovedCall<Context>,
  request: ClientRequest,
  apps: Apps<Context> | undefined,
): Promise<CallToolResult | InputRequired> {
  try {
    const input = parseArguments(tool.name, tool.input, given);
    const subject = () => `${tool.name} ${JSON.stringify(given)}`;
    const handler = (context: Context, call: Call) => tool.run(input, context, call);
    const cards = apps?.asks(request.client) && hasCard(tool) ? approved : undefined;
    const returned = await runHandler(runtime, request, subject, handler, cards);
    return returned instanceof InputRequired
      ? returned
      : resultFor(request.revision, resultOf(tool, returned));
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof CardNeeded && apps !== undefined)
      return apps.card({ tool, given, approved: error.approved }, error.message, request);
    return resultFor(request.revision, errorResult(tool, error, runtime.log));
  }
}

/**
 * Arguments under their listed names. If both names are given, the alias is kept, and rejected as unknown.
 */
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
