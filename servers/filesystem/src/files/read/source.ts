import { createHash, type Hash, hash } from "node:crypto";
import type { GuardedFile } from "@refmcp/boundary";
import { oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { type Encoding, formOfText, SAMPLE_BYTES, type TextForm } from "./text-encoding.ts";

/** Files up to this size are read completely, so their lines are counted and their content is hashed. */
const WHOLE_BYTES = 8 * 1024 * 1024;
/** Bytes read at a time from a larger file. */
export const CHUNK_BYTES = 1024 * 1024;

/** The bytes of an opened file: in memory if it is small, otherwise read piece by piece. */
export interface Source {
  /** Bytes. */
  readonly size: number;
  /** The whole content of a small file. */
  readonly whole: Buffer | undefined;
  /** Up to `length` bytes from `position`; fewer only at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
}

/** The bytes of `file`, up to its size when it was opened. */
export async function sourceOf(file: GuardedFile): Promise<Source> {
  if (file.stat.size > WHOLE_BYTES) {
    const size = file.stat.size;
    // The previous read often contains what is needed next: the first lines, or the end of the last one.
    let last: { from: number; bytes: Buffer } = { from: 0, bytes: Buffer.alloc(0) };
    const read = async (position: number, length: number) => {
      const end = Math.min(position + length, size);
      let { from, bytes } = last;
      if (position < from || end > from + bytes.length) {
        from = position;
        bytes = await readAt(file, position, end - position);
        last = { from, bytes };
      }
      return bytes.subarray(position - from, end - from);
    };
    return { size, whole: undefined, read };
  }
  return wholeSource(await readAt(file, 0, file.stat.size));
}

/** An in-memory source. */
export function wholeSource(whole: Buffer): Source {
  return {
    size: whole.length,
    whole,
    read: async (position, length) => whole.subarray(position, position + length),
  };
}

/** The refusal of a file of `size` bytes; `what` ends its sentence, for example "are edited". */
export function tooLarge(path: string, size: number, max: number, what: string, hint: string): ToolError {
  const message = `"${oneLine(path)}" has ${sized(size)}; at most ${sized(max)} ${what}.`;
  return new ToolError("too_large", message, { hint });
}

type Opened = Pick<GuardedFile, "handle">;

/** Reads up to `length` bytes; fewer if the file has shrunk. */
export async function readAt(file: Opened, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, length));
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.handle.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** The form of the text in `source`, or undefined for binary content. */
export async function formOf(source: Source, encoding?: Encoding): Promise<TextForm | undefined> {
  const bytes = source.whole ?? (await source.read(0, SAMPLE_BYTES));
  return formOfText(bytes, { whole: source.whole !== undefined, encoding });
}

/** The number of hexadecimal digits of the SHA-256 in answers. */
const HASH_DIGITS = 16;

/** A finished SHA-256 in the form used in answers. */
export function shortHash(hash: Hash): string {
  return hash.digest("hex").slice(0, HASH_DIGITS);
}

/** The hash of content as used in answers and `expected_hash`: the first 16 hex digits of its SHA-256. */
export function hashOf(bytes: Uint8Array): string {
  return hash("sha256", bytes).slice(0, HASH_DIGITS);
}

/** Whether `expected`, from a caller, matches this hash; the full 64 digits are also accepted. */
export function sameHash(expected: string, hash: string): boolean {
  return expected.toLowerCase().startsWith(hash);
}

/** The hash of a whole file, read piece by piece. */
export async function hashOfFile(file: Opened, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of chunksOf(file, signal)) hash.update(bytes);
  return shortHash(hash);
}

/** The bytes of a file from its start to its end. */
export async function* chunksOf(file: Opened, signal?: AbortSignal): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    signal?.throwIfAborted();
    const bytes = await readAt(file, position, CHUNK_BYTES);
    if (bytes.length === 0) return;
    yield bytes;
    position += bytes.length;
  }
}
