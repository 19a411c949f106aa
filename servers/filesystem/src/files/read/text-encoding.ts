import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { oneLine } from "@refmcp/boundary/answer";
import { analyse } from "chardet";
import iconv from "iconv-lite";
import { failure } from "../errors.ts";

/**
 * The name of an encoding in the WHATWG Encoding Standard, in lower case; windows-1252 includes Latin-1.
 */
export type Encoding = string;

/** The WHATWG name of a supported encoding; undefined for stateful and unknown ones. */
function standardName(label: string): Encoding | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    const isStateful = /^(?:iso-2022|replacement|x-user)/.test(encoding);
    return !isStateful && iconv.encodingExists(encoding) ? encoding : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The standard name of an encoding, for example `gbk` for `GB2312`.
 *
 * @throws ToolError `invalid` for an unknown or stateful encoding
 */
export function encodingNamed(label: string): Encoding {
  const encoding = standardName(label);
  if (encoding !== undefined) return encoding;
  const what = `The encoding ${JSON.stringify(oneLine(label))} is not supported.`;
  throw failure("unknown_encoding", what);
}

/** Below this confidence, in percent, a guess may well be wrong. */
const SURE = 40;

/** Guesses the encoding of text that is not UTF-8 or UTF-16; `weak` if it could equally be another one. */
export function guessEncoding(sample: Buffer): { encoding: Encoding; weak: boolean } {
  for (const { name, confidence } of analyse(sample)) {
    const encoding = standardName(name);
    const isLegacy = encoding !== undefined && !encoding.startsWith("utf-");
    if (isLegacy && decodesBack(sample, { encoding, bom: false, damaged: false }))
      return { encoding, weak: confidence < SURE };
  }
  // It has a character for every byte, so that edits keep them all.
  return { encoding: "windows-1252", weak: true };
}

export type Eol = "lf" | "crlf" | "cr" | "mixed" | "none";

export interface TextForm {
  readonly encoding: Encoding;
  /** Whether it begins with a byte order mark, which is not part of the text. */
  readonly bom: boolean;
  readonly eol: Eol;
  /** Whether it is UTF-8 with some invalid bytes, which survive decoding and encoding. */
  readonly damaged: boolean;
  /** Whether the encoding is a guess that may well be wrong. */
  readonly weak?: boolean;
}

/** How many bytes at the start determine whether a file is binary. */
export const SAMPLE_BYTES = 65_536;

/** How many of them are counted one by one. */
const COUNTED_BYTES = 8192;

/** The share of control bytes from which bytes that are not UTF-8 count as binary. */
const BINARY_CONTROLS = 0.02;

const BOMS: readonly { encoding: Encoding; bytes: Buffer }[] = [
  { encoding: "utf-8", bytes: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: "utf-16le", bytes: Buffer.from([0xff, 0xfe]) },
  { encoding: "utf-16be", bytes: Buffer.from([0xfe, 0xff]) },
];

/** The encoding whose byte order mark `bytes` begins with, if any. */
export function markedEncoding(bytes: Buffer): Encoding | undefined {
  return BOMS.find((mark) => bytes.subarray(0, mark.bytes.length).equals(mark.bytes))?.encoding;
}

export function bomOf(encoding: Encoding): Buffer {
  return BOMS.find((mark) => mark.encoding === encoding)?.bytes ?? Buffer.alloc(0);
}

interface FormOptions {
  /** Whether the bytes are the whole file; otherwise a character may be cut off at their end. */
  readonly whole: boolean;
  /** The encoding given by the caller; then nothing counts as binary. */
  readonly encoding?: Encoding | undefined;
}

/**
 * The form of the text in `bytes`, the beginning of a file or all of it. If it is neither UTF-8 nor UTF-16, the
 * encoding is guessed. Undefined for binary content.
 */
export async function formOfText(
  bytes: Buffer,
  options: FormOptions,
): Promise<TextForm | undefined> {
  const form = detect(bytes, options);
  if (form?.encoding !== "windows-1252" || options.encoding !== undefined) return form;
  return { ...form, ...guessEncoding(bytes.subarray(0, SAMPLE_BYTES)) };
}

/** The text of a whole file; undefined for binary content. */
export async function textOf(bytes: Buffer): Promise<{ text: string; form: TextForm } | undefined> {
  const form = await formOfText(bytes, { whole: true });
  return form === undefined ? undefined : { text: decode(bytes, form), form };
}

/** Like `formOfText`, but anything other than UTF-8 and UTF-16 counts as windows-1252. */
export function detect(
  bytes: Buffer,
  { whole, encoding: given }: FormOptions,
): TextForm | undefined {
  const mark = markedEncoding(bytes);
  const complete = whole ? bytes : withoutCutCharacter(bytes);
  const form = (encoding: Encoding, bom: boolean, damaged = false) => {
    return { encoding, bom, damaged, eol: eolOf(bytes, encoding) };
  };
  if (given !== undefined)
    return form(given, mark === given, given === "utf-8" && !isUtf8(complete));
  if (mark !== undefined && mark !== "utf-8") {
    // FF FE 00 00 is UTF-32, and half a code unit at the end is not text.
    const isUtf32 = mark === "utf-16le" && bytes.length >= 4 && bytes.readUInt16LE(2) === 0;
    return isUtf32 || (whole && bytes.length % 2 === 1) ? undefined : form(mark, true);
  }
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const wide = whole && bytes.length % 2 === 1 ? undefined : unmarkedUtf16(sample);
  if (wide !== undefined) return form(wide, false);
  if (sample.includes(0) || sample.subarray(0, 5).toString("latin1") === "%PDF-") return undefined;
  const bom = mark !== undefined;
  const controls = controlShare(sample.subarray(0, COUNTED_BYTES));
  if (isUtf8(complete)) return controls > 0.2 ? undefined : form("utf-8", bom);
  if (controls > BINARY_CONTROLS) return undefined;
  // Text in windows-1252 rarely contains valid UTF-8 sequences by chance, so they indicate a damaged UTF-8 file.
  const { sequences, strays } = countUtf8(complete);
  const isDamaged = bom || sequences > strays;
  return form(isDamaged ? "utf-8" : "windows-1252", bom, isDamaged);
}

type Form = Pick<TextForm, "encoding" | "bom" | "damaged">;

/** Decodes `bytes` without the byte order mark. Encoding the result restores the same bytes. */
export function decode(bytes: Buffer, form: Form): string {
  const body = form.bom ? bytes.subarray(bomOf(form.encoding).length) : bytes;
  switch (form.encoding) {
    case "utf-8":
      return form.damaged ? decodeDamaged(body) : body.toString("utf8");
    case "utf-16le":
      return body.toString("utf16le");
    case "utf-16be":
      return Buffer.from(body.subarray(0, body.length - (body.length % 2)))
        .swap16()
        .toString("utf16le");
    case "windows-1252":
      return iconv.decode(body, form.encoding).replaceAll("\uFFFD", (_, at) => charAt(body, at));
    default:
      return iconv.decode(body, form.encoding);
  }
}

/**
 * Encodes text to bytes, with a byte order mark if the form has one.
 *
 * @throws ToolError `invalid` if the encoding has no byte for a character.
 */
export function encode(text: string, form: Form): Buffer {
  const body = encodeBody(text, form);
  return form.bom ? Buffer.concat([bomOf(form.encoding), body]) : body;
}

function encodeBody(text: string, form: Form): Buffer {
  switch (form.encoding) {
    case "utf-8":
      return form.damaged ? encodeDamaged(text) : Buffer.from(text, "utf8");
    case "utf-16le":
      return Buffer.from(text, "utf16le");
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16();
    default:
      return encodeLegacy(text, form.encoding);
  }
}

/** WHATWG's windows-1252 has controls for the five bytes that have no character in Microsoft's. */
const charAt = (bytes: Buffer, at: number) => String.fromCharCode(bytes[at] ?? 0);
const UNASSIGNED = /([\u0081\u008d\u008f\u0090\u009d])/;

function encodeLegacy(text: string, encoding: Encoding): Buffer {
  const parts = encoding === "windows-1252" ? text.split(UNASSIGNED) : [text];
  const bytes = Buffer.concat(
    parts.map((part, index) =>
      index % 2 === 1 ? Buffer.from(part, "latin1") : iconv.encode(part, encoding),
    ),
  );
  if (decode(bytes, { encoding, bom: false, damaged: false }) === text) return bytes;
  const isEncoded = (char: string) => iconv.decode(iconv.encode(char, encoding), encoding) === char;
  const char = [...text].find((one) => !UNASSIGNED.test(one) && !isEncoded(one)) ?? "";
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const what = `The file is ${encoding} text, which has no character U+${code} (${char}).`;
  const hint = `Use characters of ${encoding}, or rewrite the whole file as UTF-8 with write_file.`;
  throw failure("no_character", what, { hint });
}

/** Whether encoding restores the same bytes; in some legacy encodings a character has several codes. */
export function decodesBack(bytes: Buffer, form: Form): boolean {
  if (form.encoding.startsWith("utf-")) return true;
  try {
    return encode(decode(bytes, form), form).equals(bytes);
  } catch {
    return false;
  }
}

/** Which line ends occur. Most files have no CR, which costs two scans at memory speed. */
export function eolOf(bytes: Buffer, encoding: Encoding): Eol {
  const isWide = encoding.startsWith("utf-16");
  const text = isWide
    ? Buffer.from(decode(bytes, { encoding, bom: false, damaged: false }))
    : bytes;
  let [crlf, cr, lf] = [false, false, false];
  const first = text.indexOf(CR);
  // Where there is one CR there are often many, and jumping from one to the next is slower than comparing every byte.
  for (let at = first === -1 ? text.length : first; at < text.length && !(crlf && cr); at++) {
    if (text[at] !== CR) continue;
    if (text[at + 1] === LF) crlf = true;
    else cr = true;
  }
  // One lone LF among CRLFs is enough, and a file without CR has only LFs.
  for (let at = text.indexOf(LF); at !== -1 && !lf; at = text.indexOf(LF, at + 1)) {
    lf = at === 0 || text[at - 1] !== CR;
  }
  if (Number(crlf) + Number(cr) + Number(lf) > 1) return "mixed";
  return crlf ? "crlf" : cr ? "cr" : lf ? "lf" : "none";
}

const CR = 13;
const LF = 10;

/** Detects UTF-16 without a byte order mark: in Latin text, every second byte is NUL. */
function unmarkedUtf16(sample: Buffer): "utf-16le" | "utf-16be" | undefined {
  const pairs = Math.floor(Math.min(sample.length, 4096) / 2);
  if (pairs === 0) return undefined;
  let even = 0;
  let odd = 0;
  for (let pair = 0; pair < pairs; pair++) {
    if (sample[2 * pair] === 0) even += 1;
    if (sample[2 * pair + 1] === 0) odd += 1;
  }
  const latin = (zeros: number, others: number) => zeros > pairs * 0.6 && others === 0;
  const encoding = latin(odd, even) ? "utf-16le" : latin(even, odd) ? "utf-16be" : undefined;
  if (encoding === undefined) return undefined;
  // Tables of small numbers look similar, but contain characters that texts do not.
  const letters = sample.subarray(0, 2 * pairs).filter((byte) => byte !== 0);
  return controlShare(letters) > 0.02 ? undefined : encoding;
}

/** Whether bytes that are not UTF-8 have too many control bytes for text. */
export function hasTooManyControls(bytes: Uint8Array): boolean {
  return controlShare(bytes.subarray(0, COUNTED_BYTES)) > BINARY_CONTROLS;
}

/** The share of control bytes that texts do not use (all but TAB, LF, FF, CR, BS, ESC). */
function controlShare(sample: Uint8Array): number {
  let controls = 0;
  for (let at = 0; at < sample.length; at++) {
    const byte = sample[at] ?? 0;
    if (byte < 0x20 ? byte < 8 || byte === 0x0b || (byte > 0x0d && byte !== 0x1b) : byte === 0x7f)
      controls += 1;
  }
  return sample.length === 0 ? 0 : controls / sample.length;
}

/** `bytes` without an incomplete UTF-8 sequence at its end. */
export function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

/** The length of the valid UTF-8 sequence at `at`, or 0 (RFC 3629: no overlong forms, no surrogates). */
function sequenceAt(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

function countUtf8(bytes: Buffer): { sequences: number; strays: number } {
  let sequences = 0;
  let strays = 0;
  for (let at = 0; at < bytes.length; ) {
    if ((bytes[at] ?? 0) < 0x80) {
      at += 1;
      continue;
    }
    const length = sequenceAt(bytes, at);
    if (length > 0) sequences += 1;
    else strays += 1;
    at += Math.max(1, length);
  }
  return { sequences, strays };
}

/**
 * Each stray byte B becomes the lone surrogate U+DC00 + B, which no valid UTF-8 decodes to (like Python's
 * `surrogateescape`, PEP 383). An answer shows it as U+FFFD; encoding restores the byte.
 */
function decodeDamaged(bytes: Buffer): string {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceAt(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    parts.push(bytes.toString("utf8", start, at), String.fromCharCode(0xdc00 + (bytes[at] ?? 0)));
    at += 1;
    start = at;
  }
  parts.push(bytes.toString("utf8", start));
  return parts.join("");
}

function encodeDamaged(text: string): Buffer {
  // In Unicode mode, a class of low surrogates matches only lone ones.
  const parts = text.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part, index) =>
      index % 2 === 1 ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part, "utf8"),
    ),
  );
}
