import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { oneLine } from "@refmcp/boundary/answer";
import type { Action } from "../journal/change-record.ts";
import type { Receipt, Subject } from "../journal/recording.ts";
import { failure, named } from "../messages.ts";
import { openIfThere } from "../open-path.ts";
import { hashOf, hashOfFile, readAt, sameHash, shortHash } from "../read/source.ts";
import { type ChangeContext, withParents } from "./change-context.ts";

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
  { guard }: ChangeContext,
  path: string,
  { max, hash, signal }: { max: number; hash: boolean; signal?: AbortSignal | undefined },
): Promise<Before | undefined> {
  const file = await openIfThere(guard, path);
  if (file === undefined) return undefined;
  try {
    const { stat } = file;
    const bytes = stat.size <= max ? await readAt(file, 0, stat.size) : undefined;
    if (bytes !== undefined) return { stat, bytes, hash: hashOf(bytes) };
    return { stat, bytes, hash: hash ? await hashOfFile(file, signal) : undefined };
  } finally {
    await file.handle.close();
  }
}

/**
 * Compares content with the hash that the caller expects.
 *
 * @throws ToolError `conflict` if it differs, or if there is no content.
 */
export function checkExpected(
  path: string,
  before: Before | undefined,
  expected: string | undefined,
): void {
  if (expected === undefined || (before?.hash !== undefined && sameHash(expected, before.hash)))
    return;
  const now =
    before === undefined ? "it no longer exists" : `its hash is now ${before.hash ?? "unknown"}`;
  throw failure(
    "other_hash",
    `${named(path)} does not match expected_hash ${oneLine(expected)}: ${now}.`,
  );
}

/** Content that is written piece by piece; its hash and size are known when it was. */
export class Streamed implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #hash = createHash("sha256");
  #digest: string | undefined;
  length = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const bytes of this.#source) {
      this.#hash.update(bytes);
      this.length += bytes.length;
      yield bytes;
    }
  }

  get hash(): string {
    this.#digest ??= shortHash(this.#hash);
    return this.#digest;
  }
}

export interface Replacement {
  readonly action: Action;
  readonly path: string;
  readonly bytes: Uint8Array | Streamed;
  /** The content that was read; the file must be unchanged when it is replaced. */
  readonly before: Before | undefined;
  readonly createParents?: boolean;
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
  { guard, record }: ChangeContext,
  { action, path, bytes, before, createParents = false, undoes, signal }: Replacement,
): Promise<Receipt & { hash: string }> {
  const then = before?.stat;
  const hash = () => (bytes instanceof Streamed ? bytes.hash : hashOf(bytes));
  const { receipt } = await record({ action, path, undoes }, (recording) =>
    withParents(guard, path, createParents, async (parents) => {
      await guard.writeFile(path, bytes, {
        mode: before === undefined ? "create" : "overwrite",
        check: async (existing) => {
          const now = existing?.stat;
          if (
            then?.ino !== now?.ino ||
            then?.size !== now?.size ||
            then?.mtimeMs !== now?.mtimeMs
          ) {
            throw failure("just_changed", `${named(path)} was just changed by another program.`);
          }
          signal?.throwIfAborted();
          const after = { type: "file", hash: hash(), size: bytes.length } as const;
          const sizes = { before: then?.size, after: bytes.length };
          if (existing === undefined) {
            await recording.write({ kind: "created", path, after, parents }, sizes);
            return;
          }
          await recording.keep(existing, signal, before?.bytes);
          await recording.write({ kind: "replaced", path, after }, sizes);
        },
      });
      return {};
    }),
  );
  const links = then?.nlink ?? 1;
  if (links === 1) return { ...receipt, hash: hash() };
  const linkNote = `The file had ${links} hard links: this name has the new content, the others keep the old content.`;
  return {
    ...receipt,
    note: receipt.note === undefined ? linkNote : `${receipt.note} ${linkNote}`,
    hash: hash(),
  };
}

/**
 * Appends to a file in place, at any size, and records only the previous length. The caller holds the path's lock.
 *
 * @param before the state that was read, if the file must be unchanged.
 * @throws ToolError `conflict` if another program has changed the file since it was read; `denied` if it has several
 * hard links.
 */
export async function appendInPlace(
  { guard, record }: ChangeContext,
  subject: Subject,
  bytes: Uint8Array,
  before?: Stats,
) {
  const { path } = subject;
  return record(subject, (recording) =>
    guard.updateFile(path, async (handle, now) => {
      if (before !== undefined && (before.size !== now.size || before.mtimeMs !== now.mtimeMs)) {
        throw failure("just_changed", `${named(path)} was just changed by another program.`);
      }
      const from = now.size;
      const after = {
        type: "appended",
        from,
        size: from + bytes.length,
        tail: hashOf(bytes),
      } as const;
      await recording.write({ kind: "replaced", path, after }, { before: from, after: after.size });
      let written = 0;
      try {
        while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
        await handle.sync();
      } catch (error) {
        // Unless another program has appended in the meantime.
        if ((await handle.stat()).size === from + written) await handle.truncate(from);
        throw error;
      }
      return { size: after.size };
    }),
  );
}
