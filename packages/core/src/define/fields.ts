import * as z from "zod";

/** Input fields that all servers share, so that a parameter means the same everywhere. */

export const limit = (standard: number, max: number) =>
  z.int().min(1).max(max).default(standard).describe(`Maximum results, 1 to ${max}.`);

export const cursor = z.string().max(8192).optional().describe("The previous next_cursor.");

export const nextCursor = z
  .string()
  .optional()
  .describe("Pass as cursor for the next page; absent on the last page.");

export const timeoutMs = (standard: number, max: number) =>
  z.int().min(1).max(max).default(standard).describe(`Time limit in milliseconds, 1 to ${max}.`);
