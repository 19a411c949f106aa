import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Files } from "./files/files.ts";
import type { Receipt } from "./files/journal/recording.ts";

export const tool = toolFor<Files>();
export const resource = resourceFor<Files>();
export const prompt = promptFor<Files>();

/** The one spelling of a path in this server's inputs. */
export const path = z.string().describe("Absolute, or below an allowed directory.");

/** The content that a change expects to find. */
export const expectedHash = z
  .string()
  .regex(/^[0-9a-fA-F]{16,64}$/)
  .optional()
  .describe("Refuse unless the file still has this hash.");

/** What a change answers about the journal. */
export const journaled = {
  /** For undo_change. */
  change_id: z.string().optional(),
  /** Why undo_change cannot take it back. */
  not_undoable: z.string().optional(),
  note: z.string().optional(),
};

/** The values of `journaled`; none where nothing was changed. */
export function journalFacts(receipt: Receipt | undefined): {
  change_id?: string;
  not_undoable?: string;
  note?: string;
} {
  return {
    ...(receipt?.changeId === undefined ? {} : { change_id: receipt.changeId }),
    ...(receipt?.final === undefined ? {} : { not_undoable: receipt.final }),
    ...(receipt?.note === undefined ? {} : { note: receipt.note }),
  };
}

/** The official server's parameter for what to leave out. */
export const excludePatterns = z
  .array(z.string())
  .max(100)
  .default([])
  .describe("Globs to leave out, for example node_modules or **/*.test.ts.");

export const includeIgnored = z
  .boolean()
  .default(false)
  .describe("Include what .gitignore, .ignore and --ignore hide.");

/** An entry of a directory in an answer. */
export const listedEntry = {
  name: z.string(),
  type: z.string(),
  target: z.string().optional(),
  /** Whether a link leads into an allowed directory. */
  target_inside: z.boolean().optional(),
};

/** What a caller should know about the answer, in sentences. */
export const notes = z.array(z.string()).optional();
