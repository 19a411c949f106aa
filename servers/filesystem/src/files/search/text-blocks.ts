import { isUtf8 } from "node:buffer";
import { fstatSync, readSync } from "node:fs";
import { TextDecoder } from "node:util";
import { analyse } from "chardet";
import { CHUNK_BYTES } from "../read/source.ts";
import {
  decode,
  type Encoding,
  guessLegacy,
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
export class Block {
  /** The lines with their line endings; only the last of a file may lack one. */
  readonly bytes: Buffer;
  /** Whether the block ends within a line, whose next part begins the next block. */
  readonly partial: boolean;
  /** Whether the bytes are UTF-8; otherwise they are in an encoding that contains ASCII. */
  readonly isUtf8: boolean;
  readonly #encoding: () => Encoding;
  #text: string | undefined;

  constructor(bytes: Buffer, partial: boolean, encoding: BlockEncoding) {
    this.bytes = bytes;
    this.partial = partial;
    this.isUtf8 = encoding === "utf-8";
    this.#encoding = encoding === "utf-8" ? () => encoding : encoding;
  }

  get text(): string {
    this.#text ??= decode(this.bytes, { encoding: this.#encoding(), bom: false, damaged: false });
    return this.#text;
  }

  /** The number of line feeds; cheaper than counting in the text. */
  countFeeds(): number {
    let count = 0;
    for (let at = this.bytes.indexOf(LINE_FEED); at >= 0; at = this.bytes.indexOf(LINE_FEED, at + 1))
      count += 1;
    return count;
  }
}

/**
 * Reads the text of an open file in blocks of complete lines: as UTF-16 if it has a byte order mark, as UTF-8, or in
 * the encoding guessed from its beginning.
 *
 * @param size in bytes, if known.
 * @returns whether it is text: false as soon as a NUL byte shows that it is not.
 */
export function readBlocks(
  fd: number,
  take: (block: Block) => "stop" | undefined,
  size = fstatSync(fd).size,
): boolean {
  let lines: LineBlocks | undefined;
  let decoder: TextDecoder | undefined;
  for (const chunk of chunksOf(fd, size)) {
    let bytes = chunk;
    if (lines === undefined) {
      const mark = markedEncoding(bytes);
      if (mark === "utf-8") bytes = bytes.subarray(3);
      else if (mark !== undefined) decoder = new TextDecoder(mark);
      if (decoder === undefined && bytes.includes(0)) return false;
      // In none of these encodings is a line feed part of another character, so lines are split before decoding.
      const isUtf = decoder !== undefined || isUtf8(withoutCutCharacter(bytes));
      // Compressed data without a NUL byte.
      if (!isUtf && hasTooManyControls(bytes)) return false;
      lines = new LineBlocks(isUtf ? "utf-8" : legacyOf(bytes), take);
    }
    if (decoder !== undefined) bytes = Buffer.from(decoder.decode(bytes, { stream: true }));
    if (bytes.includes(0)) return false;
    if (lines.add(bytes) === "stop") return true;
  }
  const rest = decoder?.decode();
  if (rest !== undefined && rest !== "") lines?.add(Buffer.from(rest));
  lines?.end();
  return true;
}

/** Guesses the encoding of a file from its beginning, once. */
function legacyOf(bytes: Buffer): () => Encoding {
  // A copy, since the next chunk is read into the same memory.
  const sample = Buffer.from(bytes.subarray(0, SAMPLE_BYTES));
  let encoding: Encoding | undefined;
  return () => {
    encoding ??= guessLegacy(analyse(sample)).encoding;
    return encoding;
  };
}

/** A single buffer for all files, since a thread reads one file at a time. */
let buffer: Buffer | undefined;

/** Each chunk is valid only until the next is requested, here or for another file. */
function* chunksOf(fd: number, size: number): Generator<Buffer> {
  buffer ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const read = readSync(fd, buffer, 0, buffer.length, position);
    if (read === 0) return;
    yield buffer.subarray(0, read);
    position += read;
    if (position === size && read < buffer.length) return;
  }
}

class LineBlocks {
  readonly #take: (block: Block) => "stop" | undefined;
  /** The beginning of a line whose end was not read yet. */
  #open: Buffer[] = [];
  #openBytes = 0;
  readonly #encoding: BlockEncoding;

  constructor(encoding: BlockEncoding, take: (block: Block) => "stop" | undefined) {
    this.#encoding = encoding;
    this.#take = take;
  }

  add(bytes: Buffer): "stop" | undefined {
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    let from = 0;
    if (end > 0 && this.#openBytes > 0) {
      // Only the incomplete line is joined; the others are not copied.
      from = bytes.indexOf(LINE_FEED) + 1;
      const block = this.#joined(bytes.subarray(0, from));
      this.#open = [];
      this.#openBytes = 0;
      if (this.#take(new Block(block, false, this.#encoding)) === "stop") return "stop";
    }
    if (end > from && this.#take(new Block(bytes.subarray(from, end), false, this.#encoding)) === "stop") {
      return "stop";
    }
    if (end < bytes.length) {
      // A copy, since the next chunk is read into the same memory.
      this.#open.push(Buffer.from(bytes.subarray(end)));
      this.#openBytes += bytes.length - end;
    }
    return this.#openBytes > MAX_LINE_BYTES ? this.#giveOpen() : undefined;
  }

  end(): void {
    if (this.#openBytes > 0) this.#take(new Block(this.#joined(Buffer.alloc(0)), false, this.#encoding));
  }

  /** Emits the beginning of a very long line and keeps its last bytes for the next part. */
  #giveOpen(): "stop" | undefined {
    const part = this.#joined(Buffer.alloc(0));
    const kept = part.subarray(characterStart(part, part.length - OVERLAP));
    this.#open = [kept];
    this.#openBytes = kept.length;
    return this.#take(new Block(part, true, this.#encoding));
  }

  #joined(last: Buffer): Buffer {
    return this.#open.length === 0 ? last : Buffer.concat([...this.#open, last]);
  }
}

/** The start of the UTF-8 character at `at`. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > at - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
