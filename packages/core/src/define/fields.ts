import * as z from "zod";

/** Input fields that all servers share, so that a parameter means the same everywhere. */

/** The maximum number of items. */
export const limit = (standard: number, max: number) =>
  z.int().min(1).max(max).default(standard).describe(`Maximum results, 1 to ${max}.`);

/** Where to continue. */
export const cursor = z
  .string()
  .max(8192)
  .optional()
  .describe("next_cursor of the previous call; omit to start.");

/** The cursor of the next page in an answer. */
export const nextCursor = z
  .string()
  .optional()
  .describe("Pass as cursor for the next page; absent on the last page.");

/** How much detail to return. */
export const detail = z
  .enum(["concise", "full"])
  .default("concise")
  .describe("concise: the essentials; full: everything.");

/** The time limit of a call. */
export const timeoutMs = (standard: number, max: number) =>
  z.int().min(1).max(max).default(standard).describe(`Time limit in milliseconds, 1 to ${max}.`);
