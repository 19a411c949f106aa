import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Web } from "./page/web.ts";

/** What a tool, resource or prompt gets: the web behind its boundary, and the pages that were fetched. */
export type Context = Web;

export const tool = toolFor<Context>();
export const resource = resourceFor<Context>();
export const prompt = promptFor<Context>();

export const url = z.string().min(1).max(8_192).describe("An http or https URL.");
export const maxAge = z
  .int()
  .min(0)
  .max(900)
  .default(900)
  .describe("Seconds that an earlier download may be old; 0 downloads anew.");
export const selector = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .describe("Only the elements that this CSS selector finds.");
