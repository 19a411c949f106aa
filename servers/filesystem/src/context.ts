import { type Content, promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import type { DiffAnswer } from "./files/edit/diff.ts";
import type { Files } from "./files/files.ts";

export const tool = toolFor<Files>();
export const resource = resourceFor<Files>();
export const prompt = promptFor<Files>();

/** A text block, with what the view of diffs needs. */
export function diffText({ diff, rest, remark }: DiffAnswer): Content[] {
  const view = { begin: 0, end: diff.length, remark };
  return [{ type: "text", text: diff + rest, _meta: { "io.github.refmcp/diff": view } }];
}

/** A path in an input; relative paths are below the allowed directories. */
export const path = z.string().describe("Absolute or relative, for example src.");

export const expectedHash = z.string().optional().describe("Fail if the file has another hash.");

/** The official server's parameter for exclusions. */
export const excludePatterns = z
  .array(z.string())
  .max(1_000)
  .default([])
  .describe("Globs, for example **/*.test.ts.");

export const includeIgnored = z.boolean().default(false).describe("Include what .gitignore hides.");

/** The shared cursor, as this server's answers call it. */
export const cursor = fields.cursor.describe("cursor of the previous answer.");

/** What to move or copy: the input of move_file and copy_file. */
export const moves = {
  source: z
    .string()
    .optional()
    .describe("A path, or a glob for many, for example *.jpg: each *, **, ? and [a-z] is $1, $2 …"),
  destination: z
    .string()
    .optional()
    .describe(
      "New path, or a directory ending in /; for a glob $1, {name}, {stem}, {ext}, {name:lower}, " +
        "{n:001}, {mtime:yyyy-MM-dd HH.mm}.",
    ),
  moves: z
    .array(z.strictObject({ source: z.string(), destination: z.string() }))
    .min(1)
    .max(1_000)
    .optional()
    .describe("Many of source and destination; relative paths are shorter."),
  overwrite: z.boolean().default(false).describe("Replace existing files."),
  dryRun: z.boolean().default(false).describe("Only show what would be done."),
};
