import { nearest, ToolError } from "@refmcp/boundary/answer";
import type { Log } from "@refmcp/core";
import {
  type ClientRequest,
  errorResult,
  isObject,
  type ListedTool,
  type Params,
  resultFor,
  show,
} from "@refmcp/core/run";

/** Runs any tool by its name. A call of it becomes a call of that tool, so it has no code. */
export const CALL_TOOL: ListedTool = {
  name: "call_tool",
  title: "Call a tool",
  description:
    "Run a tool that find_tools found, by its name. The answer is the tool's own: text, structured content or an error. Tools that are in your list can be called directly.",
  inputSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "The tool's name." },
      arguments: { type: "object", description: "Its arguments, as its inputSchema says." },
    },
    required: ["name"],
    additionalProperties: false,
  },
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
};

/** The call inside a call of `call_tool`. Some models write the arguments as JSON text. */
export function innerCall(params: Params): Params & { readonly name: string } {
  const { name, arguments: given }: Params = isObject(params.arguments) ? params.arguments : {};
  return { ...params, name: typeof name === "string" ? name : "", arguments: objectOf(given) };
}

/** Arguments that are not an object are left to the tool, which refuses them with the reason. */
function objectOf(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

/** A result instead of a protocol error, so that the model can read it. @param names the known tools */
export function noTool(
  names: readonly string[],
  name: string,
  { revision }: ClientRequest,
  log: Log,
) {
  const near = nearest(name, names);
  const error = new ToolError("not_found", `There is no tool ${show(name)}.`, {
    hint:
      near.length === 0
        ? "find_tools finds tools by words. If it is off by default, the user can start refmcp with more tools: --git.toolsets=all, for example."
        : `Did you mean ${near.join(" or ")}?`,
  });
  return resultFor(revision, errorResult(name, error, log));
}
