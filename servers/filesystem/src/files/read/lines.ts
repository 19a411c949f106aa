import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import type { GuardedFile } from "@refmcp/boundary";
import { clip, grouped, sized } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import { CHUNK_BYTES, readAt } from "./bytes.ts";
import {
  bomOf,
  decode,
  type Encoding,
  encode,
  formOfText,
  SAMPLE_BYTES,
  type TextForm,
  withoutCutCharacter,
} from "./text-encoding.ts";

/** Files up to this size are read completely, so their lines are counted and their content is hashed. */
const WHOLE_BYTES = 8 * 1024 * 1024;
/** Maximum bytes that are searched for line ends, about a second of reading. */
const SCAN_BYTES = 1024 ** 3;
/** Maximum bytes to measure of the rest of an overlong line. */
const MEASURE_BYTES = 4 * CHUNK_BYTES;
const TAIL_CHUNK_BYTES = 16_384;

/** The bytes of an opened file: in memory if it is small, otherwise read piece by piece. */
export interface Source {
  readonly size: number;
  readonly whole: Buffer | undefined;
  /** Up to `length` bytes from `position`; fewer only at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
}

/** The bytes of `file`, up to its size when it was opened. */
export async function sourceOf(file: GuardedFile): Promise<Source> {
  const { size } = file.stat;
  if (size <= WHOLE_BYTES) return wholeSource(await readAt(file, 0, size));
  // The previous read often contains what is needed next: the first lines, or the end of the last one.
  let last: { from: number; bytes: Buffer } = { from: 0, bytes: Buffer.alloc(0) };
  const read = async (position: number, length: number) => {
    const end = Math.min(position + length, size);
    if (position < last.from || end > last.from + last.bytes.length) {
      last = { from: position, bytes: await readAt(file, position, end - position) };
    }
    return last.bytes.subarray(position - last.from, end - last.from);
  };
  return { size, whole: undefined, read };
}

export function wholeSource(whole: Buffer): Source {
  const read = async (position: number, length: number) =>
    whole.subarray(position, position + length);
  return { size: whole.length, whole, read };
}

/** The form of the text in `source`, or undefined for binary content. */
export async function formOf(source: Source, encoding?: Encoding): Promise<TextForm | undefined> {
  const bytes = source.whole ?? (await source.read(0, SAMPLE_BYTES));
  return formOfText(bytes, { whole: source.whole !== undefined, encoding });
}

/**
 * The lines of a text in `source`, including their line endings. A lone CR ends a line only if the text has no other
 * line endings.
 */
export class Lines {
  readonly #source: Source;
  readonly #form: TextForm;
  readonly #signal: AbortSignal | undefined;
  readonly #end: string;
  readonly #endBytes: Buffer;
  /** Where the text begins, after a byte order mark. */
  readonly start: number;

  constructor(source: Source, form: TextForm, signal?: AbortSignal) {
    this.#source = source;
    this.#form = form;
    this.#signal = signal;
    this.#end = form.eol === "cr" ? "\r" : "\n";
    this.#endBytes = encode(this.#end, { ...form, bom: false });
    this.start = form.bom ? bomOf(form.encoding).length : 0;
  }

  /**
   * Skips `count` lines.
   *
   * @returns the byte after them and how many there were; fewer if the text ends earlier.
   * @throws ToolError `too_large` beyond 1 GiB.
   */
  async skip(position: number, count: number): Promise<{ position: number; lines: number }> {
    const width = this.#endBytes.length;
    let lines = 0;
    let at = position;
    while (lines < count) {
      this.#signal?.throwIfAborted();
      if (at - position >= SCAN_BYTES) {
        const first = `the first ${sized(SCAN_BYTES)} contain ${grouped(lines)} lines`;
        throw failure("line_too_far", `The line is too far into the file: ${first}.`);
      }
      const chunk = await this.#source.read(at, CHUNK_BYTES);
      if (chunk.length === 0)
        return { position: at, lines: lines + (await this.#openLine(position)) };
      let next = 0;
      for (let found = this.#indexOf(chunk, 0); found !== -1; found = this.#indexOf(chunk, next)) {
        lines += 1;
        next = found + width;
        if (lines === count) return { position: at + next, lines };
      }
      at += chunk.length;
    }
    return { position: at, lines };
  }

  async count(): Promise<number> {
    return (await this.skip(this.start, Number.POSITIVE_INFINITY)).lines;
  }

  /**
   * The byte at which the last `count` lines begin, searched from the end of the file.
   *
   * @returns `complete: false` if they take more than `maxBytes`; then `position` is that far before the end.
   */
  async last(count: number, maxBytes: number): Promise<{ position: number; complete: boolean }> {
    const width = this.#endBytes.length;
    const { size } = this.#source;
    // No line follows the last line ending.
    let high = size - (size % width) - width;
    let found = 0;
    while (high > this.start) {
      this.#signal?.throwIfAborted();
      if (size - high >= maxBytes) return { position: high, complete: false };
      const low = Math.max(this.start, high - TAIL_CHUNK_BYTES);
      // The first read goes to the end of the file, since the text of the lines is needed next.
      const upTo = high + width >= size ? size : high;
      const chunk = (await this.#source.read(low, upTo - low)).subarray(0, high - low);
      for (
        let at = this.#lastIndexOf(chunk, chunk.length);
        at !== -1;
        at = this.#lastIndexOf(chunk, at)
      ) {
        found += 1;
        if (found === count) return { position: low + at + width, complete: true };
      }
      high = low;
    }
    return { position: this.start, complete: true };
  }

  /** At least `chars` characters of text from `position`, fewer only at the end; `ends` is true if it is reached. */
  async text(position: number, chars: number): Promise<{ text: string; ends: boolean }> {
    const length = (chars + 2) * maxBytesPerChar(this.#form.encoding);
    const bytes = await this.#source.read(position, length);
    const ends = position + bytes.length >= this.#source.size;
    return { text: this.#decode(bytes, ends), ends };
  }

  /**
   * Skips `chars` characters of the line at `position`.
   *
   * @throws ToolError `invalid` if the line is shorter.
   */
  async column(position: number, chars: number, line: number): Promise<number> {
    let left = chars;
    let at = position;
    while (left > 0) {
      this.#signal?.throwIfAborted();
      const { text, ends } = await this.text(at, Math.min(left, CHUNK_BYTES));
      const end = text.indexOf(this.#end);
      const available = end === -1 ? text.length : end;
      if (available >= left) return at + this.#bytes(clip(text, left));
      if (end !== -1 || ends || text === "") {
        const has = grouped(chars - left + available);
        throw failure("short_line", `Line ${grouped(line)} has only ${has} characters.`);
      }
      left -= text.length;
      at += this.#bytes(text);
    }
    return at;
  }

  /**
   * The characters of the line from `position` to its end.
   *
   * @returns `exact: false` if the line is too long to measure; then `chars` is a lower bound.
   */
  async restOfLine(position: number): Promise<{ chars: number; exact: boolean }> {
    let chars = 0;
    let at = position;
    while (at - position < MEASURE_BYTES) {
      this.#signal?.throwIfAborted();
      const { text, ends } = await this.text(at, CHUNK_BYTES / 4);
      const end = text.indexOf(this.#end);
      if (end !== -1) return { chars: chars + end, exact: true };
      chars += text.length;
      if (ends) return { chars, exact: true };
      at += this.#bytes(text);
    }
    return { chars, exact: false };
  }

  /** The lines of `text`, at most `max`; `whole: false` for one without a line ending. */
  *split(text: string, max: number): Generator<{ line: string; whole: boolean }> {
    let at = 0;
    for (let count = 0; count < max && at < text.length; count++) {
      const end = text.indexOf(this.#end, at);
      const next = end === -1 ? text.length : end + 1;
      yield { line: text.slice(at, next), whole: end !== -1 };
      at = next;
    }
  }

  async closed(): Promise<boolean> {
    return (await this.#openLine(this.start)) === 0;
  }

  /** 1 if the last line has no line ending and begins at or after `from`, else 0. */
  async #openLine(from: number): Promise<0 | 1> {
    const width = this.#endBytes.length;
    const { size } = this.#source;
    if (size <= from) return 0;
    const last = await this.#source.read(size - (size % width) - width, width);
    return last.equals(this.#endBytes) ? 0 : 1;
  }

  #decode(bytes: Buffer, ends: boolean): string {
    const { encoding } = this.#form;
    if (encoding !== "utf-8") {
      // An incomplete character at the end is omitted.
      if (!ends && maxBytesPerChar(encoding) > 2)
        return new TextDecoder(encoding).decode(bytes, { stream: true });
      return decode(bytes, { encoding, bom: false, damaged: false });
    }
    const complete = ends ? bytes : withoutCutCharacter(bytes);
    // A sample from the beginning says nothing about this part of a large file.
    return decode(complete, { encoding, bom: false, damaged: !isUtf8(complete) });
  }

  #bytes(text: string): number {
    const { encoding } = this.#form;
    if (encoding === "utf-8" && text.isWellFormed()) return Buffer.byteLength(text);
    return encode(text, { encoding, bom: false, damaged: true }).length;
  }

  #indexOf(chunk: Buffer, from: number): number {
    let at = chunk.indexOf(this.#endBytes, from);
    while (at !== -1 && at % this.#endBytes.length !== 0)
      at = chunk.indexOf(this.#endBytes, at + 1);
    return at;
  }

  #lastIndexOf(chunk: Buffer, before: number): number {
    const width = this.#endBytes.length;
    let at = before < width ? -1 : chunk.lastIndexOf(this.#endBytes, before - width);
    while (at > 0 && at % width !== 0) at = chunk.lastIndexOf(this.#endBytes, at - 1);
    return at;
  }
}

/**
 * Maximum bytes per UTF-16 code unit. In UTF-8, a surrogate pair takes four bytes and any other unit up to three; in
 * GB18030, four.
 */
function maxBytesPerChar(encoding: Encoding): number {
  if (encoding === "utf-8") return 3;
  return encoding === "windows-1252" ? 1 : encoding.startsWith("utf-16") ? 2 : 4;
}
