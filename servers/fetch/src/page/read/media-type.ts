/** What kind of file a body is: by the signature in its first bytes, else by its header, else by its content. */
import { fileTypeFromBuffer } from "file-type";

/** The type of a body. */
type Kind = "html" | "json" | "text" | "image" | "pdf" | "office" | "binary";

export interface Body {
  readonly kind: Kind;
  /** MIME type without parameters. */
  readonly mimeType: string;
}

const SNIFFED_BYTES = 4_100;
/** Documents of Office Open XML (with macros or without; not Excel's binary ones), OpenDocument and EPUB. */
const OFFICE =
  /officedocument\.(?:wordprocessing|spreadsheet|presentation)ml|ms-(?:word|excel|powerpoint)\..*macroenabled|oasis\.opendocument\.(?:text|spreadsheet|presentation)|epub\+zip/i;

/** A media type (RFC 9110, 8.3.1), of names that can be registered (RFC 6838, 4.2). */
const MEDIA_TYPE = /^[a-z\d][a-z\d!#$&^_.+-]{0,126}\/[a-z\d][a-z\d!#$&^_.+-]{0,126}$/;

/** Determines the type of a body: by the signature in its first bytes, else by the header, else by its content. */
export async function kindOf(bytes: Uint8Array, contentType: string): Promise<Body> {
  const header = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  const declared = MEDIA_TYPE.test(header) ? header : "";
  // The byte order mark of UTF-16 is also the signature of an audio format.
  const signature = isUtf16(bytes)
    ? undefined
    : (await fileTypeFromBuffer(isZip(bytes) ? bytes : bytes.subarray(0, SNIFFED_BYTES)))?.mime;
  if (
    signature !== undefined &&
    !signature.startsWith("text/") &&
    signature !== "application/xml"
  ) {
    if (signature === "application/pdf") return { kind: "pdf", mimeType: signature };
    if (OFFICE.test(signature)) return { kind: "office", mimeType: signature };
    return { kind: signature.startsWith("image/") ? "image" : "binary", mimeType: signature };
  }
  if (/^(text\/html|application\/xhtml\+xml)$/.test(declared))
    return textOr(bytes, "html", declared);
  if (/^(application|text)\/(?:[\w.-]+\+)?json$/.test(declared))
    return textOr(bytes, "json", declared);
  if (/^text\/|[/+]xml$|^application\/(?:javascript|yaml|toml|x-sh)$/.test(declared))
    return textOr(bytes, "text", declared);
  if (
    declared !== "" &&
    declared !== "application/octet-stream" &&
    declared !== "application/x-unknown"
  )
    return isText(bytes)
      ? { kind: "text", mimeType: declared }
      : { kind: "binary", mimeType: declared };
  if (!isText(bytes)) return { kind: "binary", mimeType: "application/octet-stream" };
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString("latin1").trimStart().toLowerCase();
  return /^(?:<!doctype html|<html|<head|<body|<!--)/.test(start)
    ? { kind: "html", mimeType: "text/html" }
    : { kind: "text", mimeType: "text/plain" };
}

const LIST_ROOT =
  /^\s*(?:<\?[^>]*>\s*|<!--(?:(?!-->).)*-->\s*|<!DOCTYPE[^>]*>\s*)*<(?:\w+:)?(?:rss|feed|RDF|urlset|sitemapindex)[\s>]/s;

/** Whether a text is a feed (RSS, Atom) or a sitemap, by its beginning. */
export const isList = (text: string): boolean => LIST_ROOT.test(text.slice(0, SNIFFED_BYTES));

function textOr(bytes: Uint8Array, kind: Kind, mimeType: string): Body {
  return isText(bytes, true)
    ? { kind, mimeType }
    : { kind: "binary", mimeType: "application/octet-stream" };
}

const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

/** An archive's contents decide what kind of document it is, so all of it is examined. */
const isZip = ([first, second]: Uint8Array): boolean => first === 0x50 && second === 0x4b;

/** Text has few control characters, and no NUL unless it is UTF-16 or declared as text. */
function isText(bytes: Uint8Array, isDeclared = false): boolean {
  if (isUtf16(bytes)) return true;
  const start = bytes.subarray(0, SNIFFED_BYTES);
  let controls = 0;
  for (const byte of start) {
    if (byte === 0 && !isDeclared) return false;
    if (byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b)) controls += 1;
  }
  return controls * (isDeclared ? 5 : 20) <= start.length;
}
