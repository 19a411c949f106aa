import * as z from "zod";

/**
 * A valid `server.json` for the MCP Registry: the rules of its schema 2025-12-11 for npm packages and images started over stdio, in zod,
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

/** Values that the user gives for the `{names}` in `value`. */
const variables = z.record(z.string(), z.strictObject(input)).optional();

/** `valueHint` or `value` is required. */
const positional = z
  .strictObject({
    type: z.literal("positional"),
    valueHint: z.string().optional(),
    isRepeated: z.boolean().optional(),
    variables,
    ...input,
  })
  .refine(({ valueHint, value }) => valueHint !== undefined || value !== undefined);

const named = z
  .strictObject({
    type: z.literal("named"),
    name: z.string(),
    isRepeated: z.boolean().optional(),
    variables,
    ...input,
  })
  .refine(
    ({ value = "", variables = {} }) =>
      [...value.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).join() ===
      Object.keys(variables).join(),
    "Every name in braces needs a variable.",
  );

/** One version, neither a range nor a tag. */
const version = z
  .string()
  .max(255)
  .regex(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/);

const common = {
  runtimeHint: z.string().optional(),
  transport: z.strictObject({ type: z.literal("stdio") }),
  runtimeArguments: z.array(z.union([positional, named])).optional(),
  packageArguments: z.array(z.union([positional, named])).optional(),
  environmentVariables: z.array(z.strictObject({ name: z.string(), ...input })).optional(),
};

const npmPackage = z.strictObject({
  registryType: z.literal("npm"),
  registryBaseUrl: z.url().optional(),
  identifier: z.string(),
  version,
  ...common,
});

/** The registry accepts neither a version nor a base URL in addition to the full reference of an image. */
const image = z.strictObject({
  registryType: z.literal("oci"),
  identifier: z
    .string()
    .regex(/^[a-z0-9.-]+\.[a-z]+(\/[a-z0-9._-]+)+:\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/),
  ...common,
});

export const registryEntry = z.strictObject({
  $schema: z.literal(
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  ),
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
  packages: z.array(z.discriminatedUnion("registryType", [npmPackage, image])).min(1),
});
