import { createHash, hash } from "node:crypto";
import { readSync, type Stats } from "node:fs";
import type { GuardedFile, PathGuard } from "@refmcp/boundary";
import { oneLine, sizeOf, type ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import { orNothing, placeOf } from "../open-path.ts";

export const CHUNK_BYTES = 1024 * 1024;
/** Enough for the signature of each kind of document, and most headers of a message. */
export const START_BYTES = 8_192;
const HASH_DIGITS = 16;
/** To read so little takes less time than to have a thread read it. */
const SYNC_BYTES = 65_536;

interface Readable {
  readonly handle: Pick<GuardedFile["handle"], "fd" | "read">;
}

/** Reads up to `length` bytes; fewer if the file has shrunk. */
export async function readAt(
  { handle }: Readable,
  position: number,
  length: number,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, length));
  let filled = 0;
  while (filled < buffer.length) {
    const part = [buffer, filled, buffer.length - filled, position + filled] as const;
    const bytesRead =
      length <= SYNC_BYTES ? readSync(handle.fd, ...part) : (await handle.read(...part)).bytesRead;
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** The hash of content as used in answers and `expected_hash`: the first 16 hex digits of its SHA-256. */
export function hashOf(bytes: Uint8Array): string {
  return hash("sha256", bytes).slice(0, HASH_DIGITS);
}

export async function hashOfFile(file: Readable, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for (let position = 0; ; ) {
    signal?.throwIfAborted();
    const bytes = await readAt(file, position, CHUNK_BYTES);
    if (bytes.length === 0) return hash.digest("hex").slice(0, HASH_DIGITS);
    hash.update(bytes);
    position += bytes.length;
  }
}

/** A file that is going to be changed. */
export interface Before {
  readonly stat: Stats;
  /** The file that is written: the target of a symlink. */
  readonly path: string;
  /** Undefined if the file is too large to keep in memory. */
  readonly bytes: Buffer | undefined;
  /** Set if the bytes are known or the hash was requested. */
  readonly hash: string | undefined;
}

/**
 * Reads the file at `path`; undefined if it does not exist.
 *
 * @param options.max maximum bytes; larger content is only hashed, and only if `hash` is set
 */
export async function readBefore(
  guard: PathGuard,
  path: string,
  { max, hash = false, signal }: { max: number; hash?: boolean; signal?: AbortSignal | undefined },
): Promise<Before | undefined> {
  const place = await placeOf(guard, path).catch(orNothing);
  if (place?.stat === undefined) return undefined;
  const file = await guard.openFile(path).catch(orNothing);
  if (file === undefined) return undefined;
  try {
    const { stat, realPath } = file;
    const target = place.stat.isSymbolicLink() ? realPath : path;
    const bytes = stat.size <= max ? await readAt(file, 0, stat.size) : undefined;
    if (bytes !== undefined) return { stat, path: target, bytes, hash: hashOf(bytes) };
    return { stat, path: target, bytes, hash: hash ? await hashOfFile(file, signal) : undefined };
  } finally {
    await file.handle.close();
  }
}

/**
 * Compares content with the hash that the caller expects; all 64 digits are also accepted.
 *
 * @throws ToolError `conflict` if it differs, or if there is no content
 */
export function checkExpected(
  path: string,
  before: Before | undefined,
  expected: string | undefined,
): void {
  const hash = before?.hash;
  if (expected === undefined || (hash !== undefined && expected.toLowerCase().startsWith(hash)))
    return;
  const now = before === undefined ? "it no longer exists" : `its hash is now ${hash ?? "unknown"}`;
  const what = `${named(path)} does not match expected_hash ${oneLine(expected)}: ${now}.`;
  throw failure("other_hash", what);
}

/** The refusal of a file of `size` bytes; `what` ends its sentence, for example "are edited". */
export function tooLarge(path: string, [size, max]: [number, number], what: string, hint: string) {
  const message = `${named(path)} has ${sizeOf(size)}; at most ${sizeOf(max)} ${what}.`;
  return failure("too_large", message, { hint });
}

/** @param hint instead of the one for reading */
export function binary(path: string, hint?: string): ToolError {
  const options = hint === undefined ? {} : { hint };
  return failure("binary", `${named(path)} is not text (its bytes look binary).`, options);
}
