import type { Stats } from "node:fs";
import type { GuardedFile } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Action } from "../journal/change-record.ts";
import { type Receipt, record } from "../journal/recording.ts";
import { hashOf, hashOfFile, readAt, sameHash } from "../read/source.ts";
import { type ChangeContext, openIfThere, withParents } from "./change-context.ts";

/** A file's content, read before it is changed. */
export interface Before {
  readonly stat: Stats;
  /** Undefined if the file is too large to keep in memory. */
  readonly bytes: Buffer | undefined;
  /** Set if the bytes are known or the hash was requested. */
  readonly hash: string | undefined;
}

/**
 * Reads the file at `path`; undefined if it does not exist.
 *
 * @param options.max maximum bytes; larger content is only hashed, and only if `hash` is set.
 */
export async function readBefore(
  context: ChangeContext,
  path: string,
  options: { max: number; hash: boolean; signal?: AbortSignal | undefined },
): Promise<Before | undefined> {
  const file = await openIfThere(context.guard, path);
  if (file === undefined) return undefined;
  try {
    const { stat } = file;
    if (stat.size <= options.max) {
      const bytes = await readAt(file, 0, stat.size);
      return { stat, bytes, hash: hashOf(bytes) };
    }
    return {
      stat,
      bytes: undefined,
      hash: options.hash ? await hashOfFile(file, options.signal) : undefined,
    };
  } finally {
    await file.handle.close();
  }
}

/**
 * Compares content with the hash that the caller expects.
 *
 * @throws ToolError `conflict` if it differs, or if there is no content.
 */
export function checkExpected(path: string, before: Before | undefined, expected: string | undefined): void {
  if (expected === undefined || (before?.hash !== undefined && sameHash(expected, before.hash))) return;
  const now = before === undefined ? "it no longer exists" : `its hash is now ${before.hash ?? "unknown"}`;
  throw new ToolError(
    "conflict",
    `"${oneLine(path)}" does not match expected_hash ${oneLine(expected)}: ${now}.`,
    { hint: "Read it again with read_text_file, then repeat the change with the new hash." },
  );
}

export interface Replacement {
  readonly action: Action;
  /** Absolute. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The content that was read; the file must be unchanged when it is replaced. */
  readonly before: Before | undefined;
  readonly createParents: boolean;
  /**
   * If the new content begins with the entire old content (append), the length of the latter; then no image is needed.
   */
  readonly kept?: number | undefined;
  readonly undoes?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Replaces a file's content atomically and records it in the journal. If the file has several hard links, only this
 * name gets the new content, since the others may be outside the allowed directories (in a package store); the receipt
 * says so. The caller holds the path's lock.
 *
 * @throws ToolError `conflict` if another program has changed the file since it was read.
 */
export async function replaceContent(
  context: ChangeContext,
  change: Replacement,
): Promise<Receipt & { hash: string }> {
  const { path, bytes, before } = change;
  const subject = { action: change.action, path, undoes: change.undoes };
  const hash = hashOf(bytes);
  const after = { type: "file", hash, size: bytes.length } as const;
  const sizes = { before: before?.stat.size, after: bytes.length };
  const { receipt } = await record(context.journal, subject, (recording) =>
    withParents(context.guard, path, change.createParents, async (parents) => {
      await context.guard.writeFile(path, bytes, {
        mode: before === undefined ? "create" : "overwrite",
        check: async (existing) => {
          checkSame(path, before, existing);
          change.signal?.throwIfAborted();
          if (existing === undefined) {
            await recording.write({ kind: "created", path, after, parents }, sizes);
            return;
          }
          if (change.kept === undefined) await recording.keep(before?.bytes ?? existing, change.signal);
          await recording.write({ kind: "replaced", path, after, kept: change.kept }, sizes);
        },
      });
      return {};
    }),
  );
  const links = before?.stat.nlink ?? 1;
  if (links === 1) return { ...receipt, hash };
  const linkNote = `The file had ${links} hard links: this name has the new content, the others keep the old content.`;
  return { ...receipt, note: receipt.note === undefined ? linkNote : `${receipt.note} ${linkNote}`, hash };
}

function checkSame(path: string, before: Before | undefined, existing: GuardedFile | undefined): void {
  const then = before?.stat;
  const now = existing?.stat;
  if (then?.ino === now?.ino && then?.size === now?.size && then?.mtimeMs === now?.mtimeMs) return;
  throw new ToolError("conflict", `"${oneLine(path)}" was just changed by another program.`, {
    hint: "Read it again, then repeat the change.",
  });
}
