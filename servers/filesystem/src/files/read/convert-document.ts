import { readSync } from "node:fs";
import { DocumentError, type DocumentText, documentText, SelectionError } from "@refmcp/documents";
import type { DocumentKind } from "@refmcp/documents/kinds";
import { failure, named } from "../errors.ts";

const LINE_FEED = 10;
const MARK = Buffer.from("\n=== ");

export interface DocumentWork {
  /** A descriptor of this process; the caller keeps it open until the answer. */
  readonly fd: number;
  readonly size: number;
  readonly path: string;
  readonly document: DocumentKind;
  /** Which part of the document; all of it if undefined. */
  readonly part: string | undefined;
}

/** A document's text as UTF-8, in memory that threads share. */
export interface ConvertedDocument extends Pick<DocumentText, "unit" | "parts"> {
  readonly bytes: Uint8Array;
  /** The beginning and end of each line that is not of the document itself but names a part of it. */
  readonly marks: readonly (readonly [start: number, end: number])[];
}

/**
 * Converts a document to text.
 *
 * @throws ToolError `invalid` for one that is damaged, encrypted or too large, or has no such part.
 */
export async function convertDocument({ fd, size, path, document, part }: DocumentWork) {
  const source = {
    size,
    read: (position: number, length: number) => bytesAt(fd, position, length),
  };
  try {
    const { text, unit, parts } = await documentText(source, document, part);
    const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(text)));
    bytes.write(text);
    // A plain array of bytes, since a Buffer does not keep its type between threads.
    return { bytes: new Uint8Array(bytes.buffer), unit, parts, marks: marksIn(bytes) };
  } catch (cause) {
    if (cause instanceof SelectionError)
      throw failure("no_part", `${named(path)}: ${cause.message}`);
    if (!(cause instanceof DocumentError)) throw cause;
    throw failure("bad_document", `${named(path)} cannot be read: ${cause.message}.`, { cause });
  }
}

function bytesAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, length));
  let filled = 0;
  while (filled < buffer.length) {
    const read = readSync(fd, buffer, filled, buffer.length - filled, position + filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

function marksIn(bytes: Buffer): [number, number][] {
  const marks: [number, number][] = [];
  // The first line is one.
  for (let start = 0; start >= 0; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    marks.push([start, end < 0 ? bytes.length : end]);
    const next = bytes.indexOf(MARK, Math.max(start, end));
    start = next < 0 ? next : next + 1;
  }
  return marks;
}

/** The text with spaces instead of the lines that are not of the document, so that a search does not find them. */
export function searchable({ bytes, marks }: Pick<ConvertedDocument, "bytes" | "marks">): Buffer {
  const text = Buffer.from(bytes);
  for (const [start, end] of marks) text.fill(" ", start, end);
  return text;
}
