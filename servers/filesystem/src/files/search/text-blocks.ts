import { isUtf8 } from "node:buffer";
import { readSync } from "node:fs";
import { TextDecoder } from "node:util";
import { analyse } from "chardet";
import { guessLegacy } from "../read/guess-encoding.ts";
import { CHUNK_BYTES } from "../read/source.ts";
import {
  decode,
  type Encoding,
  hasTooManyControls,
  markedEncoding,
  SAMPLE_BYTES,
  withoutCutCharacter,
} from "../read/text-encoding.ts";

const LINE_FEED = 10;
/** Longer lines, in bytes, are matched in parts. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** By how many bytes the parts of such a line overlap, so that a match across the boundary is found. */
const OVERLAP = 64 * 1024;

/** UTF-8, or another encoding that is guessed when it is first needed: a guess takes milliseconds per file. */
type BlockEncoding = "utf-8" | (() => Encoding);

/** Complete lines of a file, or a part of a very long line. */
export interface Block {
  /** The lines with their line endings; only the last of a file may lack one. */
  readonly bytes: Buffer;
  /** Whether the block ends within a line, whose next part begins the next block. */
  readonly partial: boolean;
  /** Whether the bytes are UTF-8; otherwise they are in an encoding that contains ASCII. */
  readonly isUtf8: boolean;
  /** Decoded on first use. */
  readonly text: string;
  /** Some of its lines, by bytes. */
  part(from: number, to: number): Block;
}

export function blockOf(bytes: Buffer, partial: boolean, encoding: BlockEncoding): Block {
  let text: string | undefined;
  return {
    bytes,
    partial,
    isUtf8: encoding === "utf-8",
    get text() {
      const name = encoding === "utf-8" ? encoding : encoding();
      text ??= decode(bytes, { encoding: name, bom: false, damaged: false });
      return text;
    },
    part: (from, to) => blockOf(bytes.subarray(from, to), false, encoding),
  };
}

/** Texts of which a match contains one of each list. */
export type Needles = readonly (readonly Buffer[])[];

export function hasNeedles(bytes: Buffer, needles: Needles): boolean {
  return needles.every((some) => some.some((needle) => bytes.includes(needle)));
}

/** If candidates are closer together than this many bytes, decoding them all takes less time. */
const BYTES_PER_CANDIDATE = 4096;

/**
 * Divides a block into lines that contain the rarest list of `needles`, and the bytes between them, which need not be
 * decoded.
 *
 * @returns the parts in order; the block itself if most of it would be left.
 */
export function* candidatesIn(block: Block, needles: Needles): Generator<Block | Buffer> {
  const { bytes } = block;
  const max = Math.floor(bytes.length / BYTES_PER_CANDIDATE);
  if (max === 0) return yield block;
  let rarest: readonly number[] | undefined;
  for (const some of needles) {
    const places: number[] = [];
    for (const needle of some) {
      let at = bytes.indexOf(needle);
      for (; at >= 0 && places.length <= max; at = bytes.indexOf(needle, at + 1)) places.push(at);
    }
    if (places.length < (rarest?.length ?? max + 1)) rarest = places.sort((a, b) => a - b);
  }
  if (rarest === undefined) return yield block;
  let done = 0;
  for (const place of rarest) {
    if (place < done) continue;
    const start = place === 0 ? 0 : bytes.lastIndexOf(LINE_FEED, place - 1) + 1;
    const feed = bytes.indexOf(LINE_FEED, place);
    const end = feed < 0 ? bytes.length : feed + 1;
    if (start > done) yield bytes.subarray(done, start);
    yield block.part(start, end);
    done = end;
  }
  if (done < bytes.length) yield bytes.subarray(done);
}

/**
 * Reads the text of an open file in blocks of complete lines: as UTF-16 if it has a byte order mark, as UTF-8, or in
 * the encoding guessed from its beginning. Each block is valid only until the next is requested.
 *
 * @param head what `readHead` has just read of this file, if anything.
 * @param range only the lines that begin in these bytes; a file in UTF-16 is in its first range completely.
 * @returns the blocks; ends with undefined as soon as a NUL byte shows that it is not text.
 */
export function* blocksOf(
  fd: number,
  head = readHead(fd),
  range?: ByteRange,
): Generator<Block | undefined> {
  const mark = markedEncoding(head);
  const decoder = mark === undefined || mark === "utf-8" ? undefined : new TextDecoder(mark);
  const begin = mark === "utf-8" ? head.subarray(3) : head;
  if (decoder === undefined && begin.includes(0)) return yield undefined;
  // In none of these encodings is a line feed part of another character, so lines are split before decoding.
  const isUtf = decoder !== undefined || isUtf8(withoutCutCharacter(begin));
  // Compressed data without a NUL byte.
  if (!isUtf && hasTooManyControls(begin)) return yield undefined;
  const encoding: BlockEncoding = isUtf ? "utf-8" : legacyOf(begin);
  const isStart = range === undefined || range.start === 0;
  if (decoder !== undefined && !isStart) return;
  const chunks =
    range === undefined || decoder !== undefined ? chunksOf(fd, head) : chunksIn(fd, range);
  let isFirst = isStart;
  /** The beginning of a line whose end was not read yet; a copy, since the next chunk is read into the same memory. */
  let open: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    let bytes = isFirst && mark === "utf-8" ? chunk.subarray(3) : chunk;
    isFirst = false;
    if (decoder !== undefined) bytes = Buffer.from(decoder.decode(bytes, { stream: true }));
    if (bytes.includes(0)) return yield undefined;
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    // Only the incomplete line is joined; the others are not copied.
    const from = end > 0 && open.length > 0 ? bytes.indexOf(LINE_FEED) + 1 : 0;
    if (from > 0) {
      yield blockOf(Buffer.concat([open, bytes.subarray(0, from)]), false, encoding);
      open = Buffer.alloc(0);
    }
    if (end > from) yield blockOf(bytes.subarray(from, end), false, encoding);
    if (end < bytes.length) open = Buffer.concat([open, bytes.subarray(end)]);
    if (open.length > MAX_LINE_BYTES) {
      // The beginning of a very long line, whose last bytes are repeated in the next part.
      const part = open;
      open = part.subarray(characterStart(part, part.length - OVERLAP));
      yield blockOf(part, true, encoding);
    }
  }
  const rest = Buffer.concat([open, Buffer.from(decoder?.decode() ?? "")]);
  if (rest.length > 0) yield blockOf(rest, false, encoding);
}

/** The blocks of a text in memory, as UTF-8. */
export function* blocksIn(text: Buffer): Generator<Block> {
  for (let from = 0; from < text.length; ) {
    const feed = text.indexOf(LINE_FEED, Math.min(from + CHUNK_BYTES, text.length));
    const end = feed < 0 ? text.length : feed + 1;
    yield blockOf(text.subarray(from, end), false, "utf-8");
    from = end;
  }
}

/** Guesses the encoding of a file from its beginning, once. */
function legacyOf(bytes: Buffer): () => Encoding {
  // A copy, since the next chunk is read into the same memory.
  const sample = Buffer.from(bytes.subarray(0, SAMPLE_BYTES));
  let encoding: Encoding | undefined;
  return () => {
    encoding ??= guessLegacy(sample, analyse(sample)).encoding;
    return encoding;
  };
}

/** A single buffer for all files, since a thread reads one file at a time. */
let buffer: Buffer | undefined;

/** The first megabyte of a file; valid only until something else is read. */
export function readHead(fd: number): Buffer {
  return readChunk(fd, 0);
}

/**
 * Whether a file is shorter than its `head` could be, and does not contain all `needles` in any encoding that contains
 * ASCII. Most files of a search end here, without being decoded.
 */
export function certainlyLacks(fd: number, head: Buffer, needles: Needles): boolean {
  // With a byte order mark it may be UTF-16.
  if ((head[0] ?? 0) >= 0xfe || hasNeedles(head, needles)) return false;
  return head.length < CHUNK_BYTES && readSync(fd, END, 0, 1, head.length) === 0;
}

const END = Buffer.alloc(1);

function readChunk(fd: number, position: number): Buffer {
  buffer ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  return buffer.subarray(0, readSync(fd, buffer, 0, CHUNK_BYTES, position));
}

/** Each chunk is valid only until the next is requested, here or for another file. */
function* chunksOf(fd: number, head: Buffer): Generator<Buffer> {
  let position = 0;
  for (let chunk = head; chunk.length > 0; chunk = readChunk(fd, position)) {
    yield chunk;
    position += chunk.length;
  }
}

/** A part of a file; a line is in the part that contains its first byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The chunks of the lines that begin in `range`. */
function* chunksIn(fd: number, { start, end }: ByteRange): Generator<Buffer> {
  // The line feed before the first line may be the last byte of the previous range.
  let position = Math.max(0, start - 1);
  let isInside = start === 0;
  while (start < end) {
    const chunk = readChunk(fd, position);
    if (chunk.length === 0) return;
    const from = isInside ? 0 : chunk.indexOf(LINE_FEED) + 1;
    isInside ||= from > 0;
    if (from > 0 && position + from >= end) return;
    const feed =
      position + chunk.length < end
        ? -1
        : chunk.indexOf(LINE_FEED, Math.max(from, end - 1 - position));
    if (isInside && feed >= 0) return yield chunk.subarray(from, feed + 1);
    if (isInside) yield chunk.subarray(from);
    position += chunk.length;
  }
}

/** The start of the UTF-8 character at `at`. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > at - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
