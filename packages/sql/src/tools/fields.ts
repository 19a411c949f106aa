import * as z from "zod";
import type { Kind } from "../databases.ts";

// What the tools' inputs and outputs have in common.

/** One statement. */
export const statement = (example: string) =>
  z.string().min(1).max(1_000_000).describe(`One statement: ${example}.`);

/** Listed as an array only: two forms would cost every model more than the second one is worth. */
export const params = ({ params: description }: Kind) =>
  z
    .preprocess(
      (value) =>
        typeof value === "object" && value !== null && !Array.isArray(value) ? [value] : value,
      z.array(z.unknown()).max(1_000),
    )
    .default([])
    .describe(description);

export const database = (kind: Kind) => z.string().max(4096).optional().describe(kind.database);

/** Fields that only some servers offer; elsewhere their values are undefined. */
export const offered = <Fields extends Readonly<Record<string, z.ZodOptional>>>(
  isOffered: boolean,
  fields: Fields,
): Fields => (isOffered ? fields : ({} as Fields));

/** The schema of a table, where tables have schemas. */
export const schema = ({ hasSchemas }: Kind) =>
  offered(hasSchemas, {
    schema: z.string().optional().describe("Schema; default: the search path, then any."),
  });

export const path = (what: string) =>
  z.string().min(1).max(4096).describe(`${what}: absolute, or below an allowed directory.`);

export const table = z.string().min(1).max(1_000);

export const dryRun = (what: string) => z.boolean().default(false).describe(what);

export const column = z.object({ name: z.string(), type: z.string() });

export const tableCounts = z.object({
  table: z.string(),
  inserted: z.number(),
  updated: z.number(),
  deleted: z.number(),
});
