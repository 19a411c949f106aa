import * as z from "zod";
import type { Tool, ToolSchemas } from "../define/tool.ts";

type JsonSchema = Record<string, unknown>;

/** The schemas of a tool as clients see them. */
export function schemasOf(tool: Pick<Tool<never>, "input" | "output">): ToolSchemas {
  return {
    inputSchema: inputSchema(tool.input),
    ...(tool.output === undefined ? {} : { outputSchema: outputSchema(tool.output) }),
  };
}

/**
 * The JSON Schema that a client sees, 2020-12. `$schema` is left out (that dialect is the protocol's default)
 * and so is `additionalProperties: false` below the root: it costs tokens and tells a model nothing.
 */
function inputSchema(schema: z.ZodObject): JsonSchema & { type: "object" } {
  return objectSchema(z.toJSONSchema(schema, { io: "input" }), true);
}

/** As `inputSchema`, for answers. */
function outputSchema(schema: z.ZodObject): JsonSchema & { type: "object" } {
  return objectSchema(z.toJSONSchema(schema, { io: "output" }), false);
}

function objectSchema(converted: object, closed: boolean): JsonSchema & { type: "object" } {
  const { $schema: _, ...root } = { ...converted } as JsonSchema;
  const slim = withoutClosing(root);
  return { ...slim, type: "object", ...(closed ? { additionalProperties: false } : {}) };
}

/** The schema without `additionalProperties: false` anywhere. */
function withoutClosing(schema: JsonSchema): JsonSchema {
  const slim: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "additionalProperties" && value === false) continue;
    slim[key] = slimValue(value);
  }
  return slim;
}

function slimValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(slimValue);
  if (value !== null && typeof value === "object") return withoutClosing({ ...value });
  return value;
}
