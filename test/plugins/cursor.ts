import * as z from "zod";

/**
 * Cursor's plugins and marketplaces: the rules of its JSON schemas in zod, because Cursor has no program on npm. Unknown keys
 * are refused, as there.
 * Source: https://github.com/cursor/plugins, schemas/plugin.schema.json and schemas/marketplace.schema.json, August 2026
 */
const name = z.string().regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
const person = z.strictObject({ name: z.string().min(1), email: z.email().optional() });
const paths = z.union([z.string(), z.array(z.string())]).optional();

export const cursorPlugin = z.strictObject({
  name,
  displayName: z.string().optional(),
  description: z.string().optional(),
  version: z.string().optional(),
  author: person.optional(),
  publisher: z.string().min(1).optional(),
  homepage: z.url().optional(),
  repository: z.url().optional(),
  license: z.string().optional(),
  logo: z.string().optional(),
  keywords: z.array(z.string()).optional(),
  category: z.string().optional(),
  tags: z.array(z.string()).optional(),
  commands: paths,
  agents: paths,
  skills: paths,
  rules: paths,
  mcpServers: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
});

export const cursorMarketplace = z.strictObject({
  name: z.string().min(1),
  owner: person.optional(),
  metadata: z.looseObject({ description: z.string().optional() }).optional(),
  plugins: z.array(
    z.strictObject({ name, source: z.string().min(1), description: z.string().optional() }),
  ),
});
