import * as z from "zod";
import type { Tool, ToolSchemas } from "../define/tool.ts";

type JsonSchema = Record<string, unknown>;

/** The schemas of a tool as clients see them. */
export function schemasOf({ input, output }: Pick<Tool<never>, "input" | "output">): ToolSchemas {
  return {
    inputSchema: { ...objectSchema(input, "input"), additionalProperties: false },
    ...(output === undefined ? {} : { outputSchema: objectSchema(output, "output") }),
  };
}

/**
 * The JSON Schema that a client sees, 2020-12. `$schema` is left out (that dialect is the protocol's default)
 * and so is `additionalProperties: false` below the root: it costs tokens and tells a model nothing.
 */
function objectSchema(schema: z.ZodObject, io: "input" | "output"): JsonSchema & { type: "object" } {
  const { $schema: _, ...root }: JsonSchema = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return { ...root, type: "object" };
}
