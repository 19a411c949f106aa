/** What every tool, resource and prompt of this server gets, and the arguments that tools share. */
import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Web } from "./page/download/web.ts";

/** The context of tools, resources and prompts: guarded web access, and the pages fetched so far. */
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
  .describe("Maximum age of a cached download in seconds; 0 downloads again.");
export const selector = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .describe("Only elements that match this CSS selector.");
