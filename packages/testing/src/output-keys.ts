import { JsonText } from "@refmcp/boundary/answer";
import type { AnyServer, Tool } from "@refmcp/core";
import { DataAnswer } from "@refmcp/core/run";

/**
 * The server with tools that fail if they return a key that their `output` does not have. At run time such a key is
 * silently dropped from the answer.
 */
export function withCheckedOutput(server: AnyServer): AnyServer {
  return { ...server, tools: server.tools.map(checked) };
}

function checked(tool: Tool<unknown>): Tool<unknown> {
  const { output } = tool;
  if (output === undefined) return tool;
  return {
    ...tool,
    async run(input, context, call) {
      const returned = await tool.run(input, context, call);
      const value = dataOf(returned);
      const parsed = output.safeParse(value);
      const unknown = new Set(parsed.success ? keysBeyond(value, parsed.data) : []);
      if (unknown.size > 0)
        throw new TypeError(
          `${tool.name} returned ${[...unknown].join(", ")}, which its output schema does not have. Add it to output, or don't return it.`,
        );
      return returned;
    },
  };
}

function dataOf(returned: unknown): unknown {
  if (returned instanceof JsonText) return JSON.parse(returned.text);
  return returned instanceof DataAnswer ? returned.value : returned;
}

/** The paths of keys in `value` that the schema removed. */
function keysBeyond(value: unknown, left: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null || typeof left !== "object" || left === null)
    return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = Array.isArray(value) ? `${path}[]` : path === "" ? key : `${path}.${key}`;
    if (inner === undefined) return [];
    return Object.hasOwn(left, key) ? keysBeyond(inner, Reflect.get(left, key), place) : [place];
  });
}
