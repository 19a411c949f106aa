import * as z from "zod";
import type { Tool, ToolSchemas } from "../define/tool.ts";

type JsonSchema = Record<string, unknown>;

export function schemasOf({ input, output }: Pick<Tool<never>, "input" | "output">): ToolSchemas {
  return {
    inputSchema: { ...objectSchema(input, "input"), additionalProperties: false },
    ...(output === undefined ? {} : { outputSchema: objectSchema(output, "output") }),
  };
}

/**
 * The JSON Schema (2020-12) that clients see. `$schema` is omitted because that dialect is the protocol's default, and
 * `additionalProperties: false` below the root because it costs tokens without helping a model.
 */
function objectSchema(
  schema: z.ZodObject,
  io: "input" | "output",
): JsonSchema & { type: "object" } {
  const { $schema: _, ...root }: JsonSchema = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return { ...root, type: "object" };
}
