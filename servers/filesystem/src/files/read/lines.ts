import { isUtf8 } from "node:buffer";
import type { GuardedFile } from "@refmcp/boundary";
import { digits, sizeOf } from "@refmcp/boundary/answer";
import iconv from "iconv-lite";
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
/** The most bytes of a character in any encoding. */
const CHARACTER_BYTES = 4;

/** The bytes of an opened file: in memory if it is small, otherwise read piece by piece. */
interface Source {
  readonly size: number;
  readonly whole: Buffer | undefined;
  /** The first bytes: `SAMPLE_BYTES`, or all of a smaller file. */
  readonly start: Buffer;
  /** Up to `length` bytes from `position`; fewer only at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
}

/** The bytes of `file`, up to its size when it was opened. */
export async function sourceOf(file: GuardedFile): Promise<Source> {
  const { size } = file.stat;
  if (size <= WHOLE_BYTES) return wholeSource(await readAt(file, 0, size));
  const start = await readAt(file, 0, SAMPLE_BYTES);
  const read = async (position: number, length: number) =>
    position + length <= start.length
      ? start.subarray(position, position + length)
      : readAt(file, position, Math.min(length, size - position));
  return { size, whole: undefined, start, read };
}

export function wholeSource(whole: Buffer): Source {
  const read = async (position: number, length: number) =>
    whole.subarray(position, position + length);
  return { size: whole.length, whole, start: whole, read };
}

/** The form of the text in `source`, or undefined for binary content. */
export function formOf({ start, whole }: Source, encoding?: Encoding): TextForm | undefined {
  return formOfText(start, { whole: whole !== undefined, encoding });
}

/**
 * The lines of a text in `source`, including their line endings. A lone CR ends a line only if the text has no other
 * line endings.
 */
export class Lines {
  readonly source: Source;
  readonly end: "\r" | "\n";
  /** Where the text begins, after a byte order mark. */
  readonly start: number;
  readonly #form: TextForm;
  readonly #signal: AbortSignal | undefined;
  readonly #endBytes: Buffer;

  constructor(source: Source, form: TextForm, signal?: AbortSignal) {
    this.source = source;
    this.end = form.eol === "cr" ? "\r" : "\n";
    this.start = form.bom ? bomOf(form.encoding).length : 0;
    this.#form = form;
    this.#signal = signal;
    this.#endBytes = encode(this.end, { ...form, bom: false });
  }

  /**
   * Skips `count` lines.
   *
   * @returns the byte after them and how many there were; fewer if the text ends earlier.
   * @throws ToolError `too_large` beyond 1 GiB.
   */
  async skip(count: number): Promise<{ position: number; lines: number }> {
    let lines = 0;
    let isOpen = false;
    for (let at = this.start; lines < count; ) {
      this.#signal?.throwIfAborted();
      if (at >= SCAN_BYTES) {
        const first = `the first ${sizeOf(SCAN_BYTES)} contain ${digits(lines)} lines`;
        throw failure("line_too_far", `The line is too far into the file: ${first}.`);
      }
      const chunk = await this.source.read(at, CHUNK_BYTES);
      if (chunk.length === 0) return { position: at, lines: lines + (isOpen ? 1 : 0) };
      let next = 0;
      for (let end = this.#endIn(chunk, 0); end > 0; end = this.#endIn(chunk, next)) {
        lines += 1;
        next = end;
        if (lines === count) return { position: at + next, lines };
      }
      isOpen = next < chunk.length;
      at += chunk.length;
    }
    return { position: this.start, lines };
  }

  async count(): Promise<number> {
    return (await this.skip(Number.POSITIVE_INFINITY)).lines;
  }

  /** At least `chars` characters of text from `position`, fewer only at the end; `ends` is true if it is reached. */
  async text(position: number, chars: number): Promise<{ text: string; ends: boolean }> {
    const bytes = await this.source.read(position, (chars + 1) * CHARACTER_BYTES);
    const ends = position + bytes.length >= this.source.size;
    return { text: this.#decode(bytes, ends), ends };
  }

  /** The last lines of at least `chars` characters; `begins` is true if these are all lines. */
  async last(chars: number): Promise<{ text: string; begins: boolean }> {
    const { size } = this.source;
    const from = Math.max(this.start, size - (size % 2) - (chars + 1) * CHARACTER_BYTES);
    const bytes = await this.source.read(from, size - from);
    const begins = from === this.start;
    // What begins within a line is left out, unless it is the only one.
    const next = begins ? 0 : this.#endIn(bytes, 0);
    const isOnly = next < 0 || next >= bytes.length;
    if (begins || !isOnly)
      return { text: this.#decode(bytes.subarray(Math.max(0, next)), true), begins };
    return { text: this.#decode(bytes, true).replace(/^\uFFFD+/, ""), begins };
  }

  /** The lines of `text`, with their line endings. */
  split(text: string): string[] {
    return text.match(this.end === "\r" ? /[^\r]*\r|[^\r]+$/g : /[^\n]*\n|[^\n]+$/g) ?? [];
  }

  #decode(bytes: Buffer, ends: boolean): string {
    const { encoding } = this.#form;
    // An incomplete character at the end is omitted.
    if (encoding === "utf-8") {
      const complete = ends ? bytes : withoutCutCharacter(bytes);
      // A sample from the beginning says nothing about this part of a large file.
      return decode(complete, { encoding, bom: false, damaged: !isUtf8(complete) });
    }
    const isMultibyte = /^(?:gb|big5|shift|euc|utf-16)/.test(encoding);
    if (!ends && isMultibyte) return iconv.getDecoder(encoding, { stripBOM: false }).write(bytes);
    return decode(bytes, { encoding, bom: false, damaged: false });
  }

  /** The position after the first line ending in `chunk` from `from` on; -1 if there is none. */
  #endIn(chunk: Buffer, from: number): number {
    const width = this.#endBytes.length;
    let at = chunk.indexOf(this.#endBytes, from);
    while (at !== -1 && at % width !== 0) at = chunk.indexOf(this.#endBytes, at + 1);
    return at === -1 ? -1 : at + width;
  }
}
