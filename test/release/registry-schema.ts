import * as z from "zod";

/**
 * A valid `server.json` for the MCP Registry: the rules of its schema 2025-12-11 for npm packages started over stdio, in zod,
 * because no npm package has the schema. It is stricter than the schema: unknown keys are refused. The release workflow also
 * runs the registry's own `mcp-publisher validate`.
 * Source: https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
const input = {
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  format: z.enum(["string", "number", "boolean", "filepath"]).optional(),
  isSecret: z.boolean().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).optional(),
  value: z.string().optional(),
};

/** `valueHint` or `value` is required. */
const positional = z
  .strictObject({
    type: z.literal("positional"),
    valueHint: z.string().optional(),
    isRepeated: z.boolean().optional(),
    ...input,
  })
  .refine(({ valueHint, value }) => valueHint !== undefined || value !== undefined);

const named = z.strictObject({
  type: z.literal("named"),
  name: z.string(),
  isRepeated: z.boolean().optional(),
  ...input,
});

/** One version, neither a range nor a tag. */
const version = z
  .string()
  .max(255)
  .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/);

const npmPackage = z.strictObject({
  registryType: z.literal("npm"),
  registryBaseUrl: z.url().optional(),
  identifier: z.string(),
  version,
  runtimeHint: z.string().optional(),
  transport: z.strictObject({ type: z.literal("stdio") }),
  runtimeArguments: z.array(z.union([positional, named])).optional(),
  packageArguments: z.array(z.union([positional, named])).optional(),
  environmentVariables: z.array(z.strictObject({ name: z.string(), ...input })).optional(),
});

export const registryEntry = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  repository: z
    .strictObject({
      url: z.url(),
      source: z.string(),
      id: z.string().optional(),
      subfolder: z.string().optional(),
    })
    .optional(),
  version,
  websiteUrl: z.url().optional(),
  packages: z.array(npmPackage).min(1),
});
