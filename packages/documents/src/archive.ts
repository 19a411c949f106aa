import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import { type Document, DocumentError } from "./document.ts";

/** A file that is read piece by piece. */
export interface ByteSource {
  readonly size: number;
  /** Up to `length` bytes from `position`; fewer only at the end. */
  read(position: number, length: number): Uint8Array;
}

/** More entries are only counted. */
const MAX_ENTRIES = 20_000;
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;
/** Of a compressed text. */
const MAX_TEXT_BYTES = 100_000_000;

interface Entry {
  readonly name: string;
  readonly size: number;
}

/**
 * Lists a ZIP archive (APPNOTE 6.3.10) from its directory, so that its size does not matter.
 *
 * @throws DocumentError for one that is damaged.
 */
export function zipDocument(source: ByteSource): Document {
  const tailStart = Math.max(0, source.size - 66_000);
  const tail = bufferOf(source.read(tailStart, source.size - tailStart));
  const end = tail.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0 || end + 22 > tail.length)
    throw new DocumentError("it is damaged: its directory is missing");
  const size = tail.readUInt32LE(end + 12);
  if (size > MAX_DIRECTORY_BYTES) throw new DocumentError("its directory is too large");
  // Directly before its end, also if a program in front of the archive shifts everything.
  const start = tailStart + end - size;
  const directory = bufferOf(source.read(start, size));
  const entries: Entry[] = [];
  let count = 0;
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === 0x02014b50; ) {
    const nameLength = directory.readUInt16LE(at + 28);
    const extraLength = directory.readUInt16LE(at + 30);
    count += 1;
    if (entries.length < MAX_ENTRIES) {
      const name = directory.subarray(at + 46, at + 46 + nameLength);
      entries.push({ name: name.toString("utf8"), size: directory.readUInt32LE(at + 24) });
    }
    at += 46 + nameLength + extraLength + directory.readUInt16LE(at + 32);
  }
  return listing(entries, count);
}

/**
 * The text of a compressed file, such as a rotated log.
 *
 * @throws DocumentError for one that is damaged, is not text, or decompresses to more than 100 MB.
 */
export function gzipDocument(bytes: Uint8Array): Document {
  const text = inflated(bytes);
  if (text.includes(0)) throw new DocumentError("its content is not text");
  const decoder = new TextDecoder(isUtf8(text) ? "utf-8" : "windows-1252");
  return { label: "gzip-compressed text", parts: [{ name: "", text: decoder.decode(text) }] };
}

function inflated(bytes: Uint8Array): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_TEXT_BYTES });
  } catch (cause) {
    const isLarge = cause instanceof RangeError;
    const why = isLarge ? "it is larger than 100 MB when decompressed" : "it is damaged";
    throw new DocumentError(why, { cause });
  }
}

function listing(entries: readonly Entry[], count: number): Document {
  const files = entries.filter(({ name }) => !name.endsWith("/"));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const lines = entries.map(({ name, size }) => {
    // Names are foreign text and must stay on their line.
    const printable = name.replace(/\p{Cc}/gu, "?");
    return `${name.endsWith("/") ? "-" : size}\t${printable}`;
  });
  const more = count > entries.length ? [`(${count - entries.length} more entries)`] : [];
  const total = `${files.length} files, ${bytes} bytes uncompressed`;
  return {
    label: "ZIP archive",
    parts: [{ name: "", text: [total, "size\tname", ...lines, ...more].join("\n") }],
  };
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
