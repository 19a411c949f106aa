import { isUtf8 } from "node:buffer";
import { readSync } from "node:fs";
import { TextDecoder } from "node:util";
import { withLf } from "../edit/edit-text.ts";
import { CHUNK_BYTES } from "../read/bytes.ts";
import {
  decode,
  type Encoding,
  guessEncoding,
  hasTooManyControls,
  markedEncoding,
  SAMPLE_BYTES,
  withoutCutCharacter,
} from "../read/text-encoding.ts";

const LINE_FEED = 10;
const NOTHING: Buffer = Buffer.alloc(0);
/** Longer lines, in bytes, are matched in parts. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** By how many bytes the parts of such a line overlap, so that a match across the boundary is found. */
const OVERLAP = 64 * 1024;

/** UTF-8, or another encoding that is guessed when it is first needed: a guess takes milliseconds per file. */
type BlockEncoding = "utf-8" | (() => Encoding);

/** Complete lines of a file, or a part of a very long line, which ends within it. */
export interface Block {
  /** The lines with their line endings; only the last of a file may lack one. */
  readonly bytes: Buffer;
  /** Whether the bytes are UTF-8; otherwise they are in an encoding that contains ASCII. */
  readonly isUtf8: boolean;
  /** With LF line endings; decoded on first use. */
  readonly text: string;
}

function blockOf(bytes: Buffer, encoding: BlockEncoding): Block {
  let text: string | undefined;
  return {
    bytes,
    isUtf8: encoding === "utf-8",
    get text() {
      const name = encoding === "utf-8" ? encoding : encoding();
      text ??= withLf(decode(bytes, { encoding: name, bom: false, damaged: false }));
      return text;
    },
  };
}

/** A single buffer for all files, since a thread reads one file at a time. */
let buffer: Buffer | undefined;

/** The first megabyte of a file; valid only until something else is read. */
export function readHead(fd: number): Buffer {
  return readChunk(fd, 0);
}

function readChunk(fd: number, position: number): Buffer {
  buffer ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  return buffer.subarray(0, readSync(fd, buffer, 0, CHUNK_BYTES, position));
}

/**
 * Reads the text of an open file in blocks of complete lines: as UTF-16 if it has a byte order mark, as UTF-8, or in
 * the encoding guessed from its beginning. Each block is valid only until the next is requested.
 *
 * @param head what `readHead` has just read of this file
 * @returns the blocks; ends with undefined as soon as a NUL byte shows that it is not text
 */
export function* blocksOf(fd: number, head = readHead(fd)): Generator<Block | undefined> {
  const mark = markedEncoding(head);
  const decoder = mark === undefined || mark === "utf-8" ? undefined : new TextDecoder(mark);
  const begin = mark === "utf-8" ? head.subarray(3) : head;
  if (decoder === undefined && begin.includes(0)) return yield undefined;
  // In none of these encodings is a line feed part of another character, so lines are split before decoding.
  const isUtf = decoder !== undefined || isUtf8(withoutCutCharacter(begin));
  // Compressed data without a NUL byte.
  if (!isUtf && hasTooManyControls(begin)) return yield undefined;
  const encoding: BlockEncoding = isUtf ? "utf-8" : legacyOf(begin);
  /** The beginning of a line whose end was not read yet; a copy, since the next chunk is read into the same memory. */
  let open = NOTHING;
  let position = 0;
  for (let chunk = head; chunk.length > 0; chunk = readChunk(fd, position)) {
    let bytes = position === 0 ? begin : chunk;
    position += chunk.length;
    if (decoder !== undefined) bytes = Buffer.from(decoder.decode(bytes, { stream: true }));
    if (bytes.includes(0)) return yield undefined;
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    // Only the incomplete line is joined; the others are not copied.
    const from = end > 0 && open.length > 0 ? bytes.indexOf(LINE_FEED) + 1 : 0;
    if (from > 0) {
      yield blockOf(Buffer.concat([open, bytes.subarray(0, from)]), encoding);
      open = NOTHING;
    }
    const isAll = from === 0 && end === bytes.length;
    if (end > from) yield blockOf(isAll ? bytes : bytes.subarray(from, end), encoding);
    if (end < bytes.length) open = Buffer.concat([open, bytes.subarray(end)]);
    if (open.length > MAX_LINE_BYTES) {
      // The beginning of a very long line, whose last bytes are repeated in the next part.
      const part = open;
      open = part.subarray(characterStart(part, part.length - OVERLAP));
      yield blockOf(part, encoding);
    }
  }
  const rest = decoder ? Buffer.concat([open, Buffer.from(decoder.decode())]) : open;
  if (rest.length > 0) yield blockOf(rest, encoding);
}

/** The blocks of a text in memory, as UTF-8. */
export function* blocksIn(text: Buffer): Generator<Block> {
  for (let from = 0; from < text.length; ) {
    const feed = text.indexOf(LINE_FEED, Math.min(from + CHUNK_BYTES, text.length));
    const end = feed < 0 ? text.length : feed + 1;
    yield blockOf(text.subarray(from, end), "utf-8");
    from = end;
  }
}

/** Guesses the encoding of a file from its beginning, once. */
function legacyOf(bytes: Buffer): () => Encoding {
  // A copy, since the next chunk is read into the same memory.
  const sample = Buffer.from(bytes.subarray(0, SAMPLE_BYTES));
  let encoding: Encoding | undefined;
  return () => {
    encoding ??= guessEncoding(sample).encoding;
    return encoding;
  };
}

/** The start of the UTF-8 character at `at`. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > at - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
