/** How a document is read. */
export type DocumentKind = "pdf" | "office" | "mail" | "mbox" | "notebook" | "zip" | "gzip";

const KINDS: Readonly<Record<DocumentKind, string>> = {
  pdf: "pdf",
  office: "docx docm dotx xlsx xlsm xltx pptx pptm ppsx potx odt ott ods ots odp otp epub",
  mail: "eml",
  mbox: "mbox",
  notebook: "ipynb",
  zip: "zip jar war whl",
  gzip: "gz",
};
const BY_EXTENSION = new Map(
  Object.entries(KINDS).flatMap(([kind, extensions]) =>
    // The table has only these keys.
    extensions.split(" ").map((extension) => [extension, kind as DocumentKind]),
  ),
);
const EXTENSION = new RegExp(`\\.(${[...BY_EXTENSION.keys()].join("|")})$`, "i");
/** A message in a Maildir: the time, the process, the host and perhaps the flags. */
const MAILDIR = /(?:^|[/\\])\d{9,11}\.[\w+-]+\.[^/\\]+$/;

/** What kind of document a file is by its name; undefined if none. Takes less than a microsecond. */
export function documentKind(name: string): DocumentKind | undefined {
  const extension = EXTENSION.exec(name)?.[1];
  if (extension !== undefined) return BY_EXTENSION.get(extension.toLowerCase());
  return MAILDIR.test(name) ? "mail" : undefined;
}

/** Headers that messages begin with, in any file that a server or program has put them in. */
const MAIL_START =
  /^(?:Return-Path|Received|Delivered-To|X-Original-To|Message-ID|MIME-Version|DKIM-Signature|ARC-Seal|From|Date|Subject): /i;
/** Only these need to be decoded; a message without one is text already. */
const MAIL_ENCODING = /^(?:MIME-Version|Content-Type|Content-Transfer-Encoding): /im;

/** What kind of document begins with these bytes (best some thousand), with any name; undefined for most files. */
export function kindOfStart(start: Uint8Array): DocumentKind | undefined {
  const bytes = Buffer.from(start.buffer, start.byteOffset, start.length);
  const begin = bytes.toString("latin1", 0, 20);
  if (begin.startsWith("%PDF-")) return "pdf";
  if (!MAIL_START.test(begin)) return undefined;
  const [header = ""] = bytes.toString("latin1").split(/\r?\n\r?\n/, 1);
  return MAIL_ENCODING.test(header) ? "mail" : undefined;
}

/** Mail and notebooks are text files: what is too large to convert can still be read as text. */
export const isTextKind = (kind: DocumentKind): boolean => /^(?:mail|mbox|notebook)$/.test(kind);

/** How documents of a kind begin, as Latin-1. */
const SIGNATURES: Readonly<Record<DocumentKind, RegExp>> = {
  pdf: /%PDF-/,
  office: /^(?:PK|\xd0\xcf.\xe0)/s,
  // An archive can follow a program that extracts it.
  zip: /^(?:PK|MZ|#!)/,
  gzip: /^.\x8b/s,
  notebook: /^(?:\xef\xbb\xbf)?\s*\{/,
  mbox: /^From /,
  mail: /^(?:\xef\xbb\xbf)?(?:From |[!-9;-~]+:[ \t\r])/,
};

/** Whether a file that begins with these bytes can be a document of this kind. */
export function hasSignature(kind: DocumentKind, start: Uint8Array): boolean {
  const bytes = Buffer.from(start.buffer, start.byteOffset, Math.min(start.length, 1_024));
  return SIGNATURES[kind].test(bytes.toString("latin1"));
}

/** The part that contains a line; undefined before the first. */
export function partAt(
  parts: readonly { readonly name: string; readonly line: number }[],
  line: number,
): string | undefined {
  let [low, high] = [0, parts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((parts[middle]?.line ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return parts[low - 1]?.name;
}
