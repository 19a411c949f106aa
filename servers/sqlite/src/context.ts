import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Databases } from "./database/connection/databases.ts";

export const tool = toolFor<Databases>();
export const resource = resourceFor<Databases>();
export const prompt = promptFor<Databases>();

export const statement = (example: string) =>
  z.string().min(1).max(100_000).describe(`One SQL statement: ${example}`);

export const database = z
  .string()
  .max(4096)
  .optional()
  .describe("Name of a --db option, or a path inside the allowed directories; default: the first.");

export const path = (what: string) =>
  z.string().min(1).max(4096).describe(`${what}: absolute, or below an allowed directory.`);

/** Listed as an array only: two forms would cost every model more than the second one is worth. */
export const params = z
  .preprocess(
    (given) =>
      typeof given === "object" && given !== null && !Array.isArray(given) ? [given] : given,
    z.array(z.unknown()).max(1_000),
  )
  .default([])
  .describe(
    'Values for ?, ?1, $1 in order, or one object for :name: text, number, true, null, {"base64": "…"} for bytes.',
  );

export const dryRun = z
  .boolean()
  .default(false)
  .describe("Run it, report what would change, and roll back.");
