import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Files } from "./files/files.ts";

export const tool = toolFor<Files>();
export const resource = resourceFor<Files>();
export const prompt = promptFor<Files>();

/** A path in an input; relative paths are below the allowed directories. */
export const path = z.string().describe("Absolute or relative path.");

export const expectedHash = z.string().optional().describe("Fail unless the file still has this hash.");

/** The official server's parameter for exclusions. */
export const excludePatterns = z
  .array(z.string())
  .max(1_000)
  .default([])
  .describe("Globs to exclude, for example **/*.test.ts.");

export const includeIgnored = z.boolean().default(false).describe("Include what .gitignore hides.");
