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

/** What to move or copy: the input of move_file and copy_file. */
export const moves = {
  source: z
    .string()
    .optional()
    .describe(
      "A path, or a glob for many files: each *, **, ?, or if it has them only each group such as (*), is $1, $2 …",
    ),
  destination: z
    .string()
    .optional()
    .describe(
      "New path, or a directory with / at the end; for a glob with $1, {name}, {stem}, {ext}, {name:lower}, " +
        "{mtime:yyyy-MM} (also dd, HH, mm; local time).",
    ),
  moves: z
    .array(z.strictObject({ source: z.string(), destination: z.string() }))
    .min(1)
    .max(1_000)
    .optional()
    .describe("Many of source and destination in one call; relative paths are shorter."),
  overwrite: z.boolean().default(false).describe("Replace existing files."),
  dryRun: z.boolean().default(false).describe("Only show what would be done."),
};
