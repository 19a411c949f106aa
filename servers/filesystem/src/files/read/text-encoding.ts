import { isUtf8 } from "node:buffer";
import { oneLine } from "@refmcp/boundary/answer";
import { analyse } from "chardet";
import iconv from "iconv-lite";
import { failure } from "../errors.ts";

/** The name of an encoding in the WHATWG Encoding Standard, in lower case; windows-1252 includes Latin-1. */
export type Encoding = string;
type Eol = "lf" | "crlf" | "cr" | "mixed" | "none";

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

type Form = Pick<TextForm, "encoding" | "bom" | "damaged">;

/** How many bytes at the start determine whether a file is binary. */
export const SAMPLE_BYTES = 65_536;
/** How many of them are looked at for control bytes. */
const COUNTED_BYTES = 8192;
/** The share of control bytes from which bytes that are not UTF-8 count as binary. */
const BINARY_CONTROLS = 0.02;
/** Below this confidence, in percent, a guess may well be wrong. */
const SURE = 40;

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

/** The standard name of an encoding, for example `gbk` for `GB2312`. @throws ToolError `invalid` for an unknown one */
export function encodingNamed(label: string): Encoding {
  const encoding = standardName(label);
  if (encoding !== undefined) return encoding;
  const what = `The encoding ${JSON.stringify(oneLine(label))} is not supported.`;
  throw failure("unknown_encoding", what);
}

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

const BOMS: readonly { encoding: Encoding; bytes: Buffer }[] = [
  { encoding: "utf-8", bytes: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: "utf-16le", bytes: Buffer.from([0xff, 0xfe]) },
  { encoding: "utf-16be", bytes: Buffer.from([0xfe, 0xff]) },
];

/** The encoding whose byte order mark `bytes` begins with, if any. */
export function markedEncoding(bytes: Buffer): Encoding | undefined {
  if ((bytes[0] ?? 0) < 0xef) return undefined;
  return BOMS.find((mark) => bytes.subarray(0, mark.bytes.length).equals(mark.bytes))?.encoding;
}

export function bomOf(encoding: Encoding): Buffer {
  return BOMS.find((mark) => mark.encoding === encoding)?.bytes ?? Buffer.alloc(0);
}

/**
 * The form of the text in `bytes`, the beginning of a file or (`whole`) all of it. If it is neither UTF-8 nor UTF-16,
 * the encoding is guessed. Undefined for binary content, except if the caller gives the encoding.
 */
export function formOfText(
  bytes: Buffer,
  { whole, encoding: override }: { whole: boolean; encoding?: Encoding | undefined },
): TextForm | undefined {
  const mark = markedEncoding(bytes);
  const complete = whole ? bytes : withoutCutCharacter(bytes);
  const form = (encoding: Encoding, bom: boolean, damaged = false): TextForm => {
    return { encoding, bom, damaged, eol: eolOf(bytes, encoding) };
  };
  if (override !== undefined)
    return form(override, mark === override, override === "utf-8" && !isUtf8(complete));
  if (mark !== undefined && mark !== "utf-8") {
    // FF FE 00 00 is UTF-32, and half a code unit at the end is not text.
    const isUtf32 = mark === "utf-16le" && bytes.length >= 4 && bytes.readUInt16LE(2) === 0;
    return isUtf32 || (whole && bytes.length % 2 === 1) ? undefined : form(mark, true);
  }
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  if (sample.includes(0) || sample.subarray(0, 5).toString("latin1") === "%PDF-") return undefined;
  const bom = mark !== undefined;
  const controls = controlShare(sample);
  if (isUtf8(complete)) return controls > 0.2 ? undefined : form("utf-8", bom);
  if (controls > BINARY_CONTROLS) return undefined;
  // Text in another encoding rarely contains valid UTF-8 sequences by chance, so they indicate a damaged UTF-8 file.
  const characters = complete.toString("latin1").match(UTF8_SEQUENCE) ?? [];
  const strays = characters.filter(({ length }) => length === 1).length;
  if (bom || characters.length > 2 * strays) return form("utf-8", bom, true);
  const guess = guessEncoding(sample);
  return { ...form(guess.encoding, false), ...guess };
}

/** The text of a whole file; undefined for binary content. */
export function textOf(bytes: Buffer): { text: string; form: TextForm } | undefined {
  const form = formOfText(bytes, { whole: true });
  return form && { text: decode(bytes, form), form };
}

/** WHATWG's windows-1252 has controls for the five bytes that have no character in Microsoft's. */
const UNASSIGNED = /([\u0081\u008d\u008f\u0090\u009d])/;

/** Decodes `bytes` without the byte order mark. Encoding the result restores the same bytes. */
export function decode(bytes: Buffer, { encoding, bom, damaged }: Form): string {
  const body = bom ? bytes.subarray(bomOf(encoding).length) : bytes;
  if (encoding === "utf-8") return damaged ? decodeDamaged(body) : body.toString("utf8");
  const text = iconv.decode(body, encoding, { stripBOM: false });
  if (encoding !== "windows-1252") return text;
  return text.replaceAll("\uFFFD", (_, at) => String.fromCharCode(body[at] ?? 0));
}

/**
 * Encodes text to bytes, with a byte order mark if the form has one.
 *
 * @throws ToolError `invalid` if the encoding has no byte for a character.
 */
export function encode(text: string, { encoding, bom, damaged }: Form): Buffer {
  const body = damaged ? encodeDamaged(text) : encodeValid(text, encoding);
  return bom ? Buffer.concat([bomOf(encoding), body]) : body;
}

function encodeValid(text: string, encoding: Encoding): Buffer {
  if (encoding === "utf-8") return Buffer.from(text);
  if (encoding.startsWith("utf-")) return iconv.encode(text, encoding, { addBOM: false });
  const parts = encoding === "windows-1252" ? text.split(UNASSIGNED) : [text];
  const bytes = Buffer.concat(
    parts.map((part, index) => iconv.encode(part, index % 2 === 1 ? "latin1" : encoding)),
  );
  if (decode(bytes, { encoding, bom: false, damaged: false }) === text) return bytes;
  const isEncoded = (char: string) => iconv.decode(iconv.encode(char, encoding), encoding) === char;
  const char = [...text].find((item) => !UNASSIGNED.test(item) && !isEncoded(item)) ?? "";
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

/** Which line ends occur. */
function eolOf(bytes: Buffer, encoding: Encoding): Eol {
  const isWide = encoding.startsWith("utf-16");
  if (!bytes.includes(13)) return bytes.includes(10) ? "lf" : "none";
  const text = isWide ? iconv.decode(bytes, encoding) : bytes.toString("latin1");
  const ends = [/\r\n/, /\r(?!\n)/, /(?<!\r)\n/].map((end) => end.test(text));
  if (ends.filter(Boolean).length > 1) return "mixed";
  return ends[0] ? "crlf" : ends[1] ? "cr" : ends[2] ? "lf" : "none";
}

/** Whether bytes that are not UTF-8 have too many control bytes for text. */
export function hasTooManyControls(bytes: Buffer): boolean {
  return controlShare(bytes) > BINARY_CONTROLS;
}

/** Controls other than BS, TAB, LF, FF, CR and ESC. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\0-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f]/g;

/** The share of control bytes that texts do not use. */
function controlShare(bytes: Buffer): number {
  const sample = bytes.toString("latin1", 0, COUNTED_BYTES);
  return (sample.match(CONTROLS)?.length ?? 0) / Math.max(1, sample.length);
}

/** `bytes` without an incomplete UTF-8 sequence at its end. */
export function withoutCutCharacter(bytes: Buffer): Buffer {
  const begin = /[\xc0-\xff][\x80-\xbf]*$/.exec(bytes.subarray(-3).toString("latin1"))?.[0];
  if (begin === undefined) return bytes;
  const first = begin.charCodeAt(0);
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return begin.length < length ? bytes.subarray(0, bytes.length - begin.length) : bytes;
}

/** A valid UTF-8 sequence of more than one byte (RFC 3629), as Latin-1, or else a single byte. */
const UTF8_SEQUENCE =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

/**
 * Each stray byte B becomes the lone surrogate U+DC00 + B, which no valid UTF-8 decodes to (like Python's
 * `surrogateescape`, PEP 383). An answer shows it as U+FFFD; encoding restores the byte.
 */
function decodeDamaged(bytes: Buffer): string {
  return bytes
    .toString("latin1")
    .replace(UTF8_SEQUENCE, (match) =>
      match.length > 1
        ? Buffer.from(match, "latin1").toString("utf8")
        : String.fromCharCode(0xdc00 + match.charCodeAt(0)),
    );
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
