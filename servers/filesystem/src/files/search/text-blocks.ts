import { isUtf8 } from "node:buffer";
import { fstatSync, readSync } from "node:fs";
import { TextDecoder } from "node:util";

/** How much is read at a time, in bytes. */
const CHUNK_BYTES = 1024 * 1024;

/** Lines longer than this, in bytes, are matched in parts. */
export const LONGEST_LINE = 8 * 1024 * 1024;
/** How far the parts of such a line overlap, so that a match on the seam is found. */
export const OVERLAP = 64 * 1024;

/** Whole lines of a file in UTF-8, or a part of a very long line. */
export interface Block {
  /** The lines with their line ends; only the last of a file may lack one. */
  readonly bytes: Buffer;
  /** Whether the block ends within a line, whose next part begins the next block. */
  readonly partial: boolean;
}

/**
 * The text of an open file in blocks of whole lines, decoded as ripgrep does it: UTF-16 where a byte order mark
 * says so, bytes as they are otherwise.
 *
 * @returns whether it is text: false as soon as a NUL byte shows that it is not.
 */
export function readBlocks(fd: number, take: (block: Block) => "stop" | undefined): boolean {
  const lines = new LineBlocks(take);
  let decoder: TextDecoder | undefined;
  let first = true;
  for (const chunk of chunksOf(fd)) {
    let bytes = chunk;
    if (first) {
      first = false;
      decoder = decoderFor(bytes);
      if (isUtf8Mark(bytes)) bytes = bytes.subarray(3);
    }
    if (decoder !== undefined) bytes = Buffer.from(decoder.decode(bytes, { stream: true }));
    if (bytes.includes(0)) return false;
    if (lines.add(bytes) === "stop") return true;
  }
  const rest = decoder?.decode();
  if (rest !== undefined && rest !== "") lines.add(Buffer.from(rest));
  lines.end();
  return true;
}

function* chunksOf(fd: number): Generator<Buffer> {
  const { size } = fstatSync(fd);
  // Most files are small; one read finds the end of those.
  const length = Math.min(CHUNK_BYTES, size + 1);
  for (let position = 0; ; ) {
    const buffer = Buffer.allocUnsafe(position === 0 ? length : CHUNK_BYTES);
    const read = readSync(fd, buffer, 0, buffer.length, position);
    if (read === 0) return;
    yield buffer.subarray(0, read);
    position += read;
    if (position === size && read < buffer.length) return;
  }
}

function decoderFor(bytes: Buffer): TextDecoder | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le");
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be");
  return undefined;
}

function isUtf8Mark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

const LINE_FEED = 10;

/** Cuts a stream of bytes at line ends. */
class LineBlocks {
  readonly #take: (block: Block) => "stop" | undefined;
  /** The begin of a line whose end was not read yet. */
  #open: Buffer[] = [];
  #openBytes = 0;

  constructor(take: (block: Block) => "stop" | undefined) {
    this.#take = take;
  }

  add(bytes: Buffer): "stop" | undefined {
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) {
      const block = this.#joined(bytes.subarray(0, end));
      this.#open = [];
      this.#openBytes = 0;
      if (this.#take({ bytes: block, partial: false }) === "stop") return "stop";
    }
    if (end < bytes.length) {
      this.#open.push(bytes.subarray(end));
      this.#openBytes += bytes.length - end;
    }
    return this.#openBytes > LONGEST_LINE ? this.#giveOpen() : undefined;
  }

  end(): void {
    if (this.#openBytes > 0) this.#take({ bytes: this.#joined(Buffer.alloc(0)), partial: false });
  }

  /** Gives out the begin of a very long line and keeps its last bytes for the next part. */
  #giveOpen(): "stop" | undefined {
    const part = this.#joined(Buffer.alloc(0));
    const kept = part.subarray(characterStart(part, part.length - OVERLAP));
    this.#open = [kept];
    this.#openBytes = kept.length;
    return this.#take({ bytes: part, partial: true });
  }

  #joined(last: Buffer): Buffer {
    return this.#open.length === 0 ? last : Buffer.concat([...this.#open, last]);
  }
}

/** The begin of the UTF-8 character around `at`. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > at - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

/**
 * A line as text. Where it is not UTF-8, the bytes that are not take the place of a line feed, which no pattern
 * matches: so ripgrep has it, too.
 */
export function matchableText(line: Buffer): string {
  const text = line.toString("utf8");
  return text.includes("\uFFFD") && !isUtf8(line) ? text.replaceAll("\uFFFD", "\n") : text;
}

/** A line for people: where it is not UTF-8 it is taken for Windows-1252, the usual other one. */
export function readableText(line: Buffer): string {
  return isUtf8(line) ? line.toString("utf8") : new TextDecoder("windows-1252").decode(line);
}
