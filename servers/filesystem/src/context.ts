import { promptFor, resourceFor, toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Files } from "./files/files.ts";
import type { Receipt } from "./files/recording.ts";

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
};

/** The values of `journaled`; none where nothing was changed. */
export function journalFacts(receipt: Receipt | undefined): { change_id?: string; not_undoable?: string } {
  return {
    ...(receipt?.changeId === undefined ? {} : { change_id: receipt.changeId }),
    ...(receipt?.final === undefined ? {} : { not_undoable: receipt.final }),
  };
}
