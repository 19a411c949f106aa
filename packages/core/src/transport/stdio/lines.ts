import { isUtf8 } from "node:buffer";

/**
 * A line of input, or why it cannot be used. `start` and `end` are the first and last 1,024 bytes of the line as text.
 */
export type Line =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "not-utf8" }
  | { readonly kind: "too-long"; readonly start: string; readonly end: string };

const NEWLINE = 0x0a;
/** How many bytes are kept of both ends of an overlong line, to find the request's id. */
const EDGE = 1024;
/** A larger buffer is released after its line. */
const KEPT_BUFFER = 1 << 20;

/**
 * Splits a byte stream into lines. `push` adds a chunk, `next` returns its lines one by one, so the caller can stop in
 * the middle of a chunk.
 *
 * Memory is bounded by the maximum line length: the bytes of an overlong line are counted and discarded. Every byte is
 * copied at most a few times, however small the chunks, because an incomplete line is collected in one buffer that
 * doubles.
 */
export class LineReader {
  readonly #maxBytes: number;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #partial: Buffer = Buffer.alloc(0);
  #length = 0;
  #overlong: { start: string; end: Buffer } | undefined;
  #first = true;

  /** @param maxBytes of one line, without its newline. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    const rest = this.#chunk.subarray(this.#at);
    this.#chunk = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    this.#at = 0;
  }

  /** The next complete line, or undefined until more is pushed. */
  next(): Line | undefined {
    const from = this.#at;
    if (from >= this.#chunk.length) return undefined;
    const newline = this.#chunk.indexOf(NEWLINE, from);
    const piece = this.#chunk.subarray(from, newline === -1 ? this.#chunk.length : newline);
    this.#at = newline === -1 ? this.#chunk.length : newline + 1;
    if (newline !== -1) return this.#finish(piece);
    this.#keep(piece);
    return undefined;
  }

  /** The text after the last newline as a line, after the end of the input. */
  last(): Line | undefined {
    return this.#length === 0 && this.#overlong === undefined ? undefined : this.#finish(Buffer.alloc(0));
  }

  #finish(piece: Buffer): Line {
    if (this.#length > 0 || this.#overlong !== undefined || piece.length > this.#maxBytes) {
      this.#keep(piece);
      piece = this.#partial.subarray(0, this.#length);
    }
    const overlong = this.#overlong;
    const line: Line =
      overlong === undefined
        ? this.#decode(piece)
        : { kind: "too-long", start: overlong.start, end: overlong.end.toString("utf8") };
    this.#first = false;
    this.#overlong = undefined;
    this.#length = 0;
    if (this.#partial.length > KEPT_BUFFER) this.#partial = Buffer.alloc(0);
    return line;
  }

  #decode(bytes: Buffer): Line {
    const bom = this.#first && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const line = bom ? bytes.subarray(3) : bytes;
    return isUtf8(line) ? { kind: "text", text: line.toString("utf8") } : { kind: "not-utf8" };
  }

  /** Adds a piece to the current line. */
  #keep(piece: Buffer): void {
    const overlong = this.#overlong;
    if (overlong !== undefined) {
      // A copy, since a slice would keep the whole chunk in memory.
      overlong.end = Buffer.concat([overlong.end, piece.subarray(-EDGE)]).subarray(-EDGE);
      return;
    }
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) {
      const held = this.#partial.subarray(0, this.#length);
      const start = Buffer.concat([held.subarray(0, EDGE), piece.subarray(0, EDGE)]).toString(
        "utf8",
        0,
        EDGE,
      );
      this.#overlong = {
        start,
        end: Buffer.concat([held.subarray(-EDGE), piece.subarray(-EDGE)]).subarray(-EDGE),
      };
      this.#length = 0;
      this.#partial = Buffer.alloc(0);
      return;
    }
    if (length > this.#partial.length) {
      const grown = Buffer.allocUnsafe(
        Math.min(this.#maxBytes, Math.max(length, this.#partial.length * 2, 4096)),
      );
      this.#partial.copy(grown, 0, 0, this.#length);
      this.#partial = grown;
    }
    piece.copy(this.#partial, this.#length);
    this.#length = length;
  }
}
