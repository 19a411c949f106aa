import type { ByteSource } from "./archive.ts";
import { type Document, DocumentError, type DocumentPart } from "./document.ts";
import type { DocumentKind } from "./kinds.ts";
import { gridText } from "./office/cells.ts";

export type { ByteSource } from "./archive.ts";
export { type Document, DocumentError, type DocumentFacts } from "./document.ts";

/** Of a document that must be read whole; archives are listed at any size. */
export const MAX_DOCUMENT_BYTES: number = 64 * 1024 * 1024;
/** More text is cut. */
const MAX_CHARS = 20_000_000;
const MAX_LISTED = 30;
/** What the lines that the reader adds begin with. */
const MARK = "=== ";

/** A document as lines of text. */
export interface DocumentText {
  /** What it is and which parts it has, which is also its first line: `PDF, 3 pages`. */
  readonly summary: string;
  readonly text: string;
  /** What its parts are called. */
  readonly unit: string | undefined;
  /** The parts, each with the number of the line that names it, from 1. */
  readonly parts: readonly { readonly name: string; readonly line: number }[];
}

/**
 * Converts a document to text: a first line that says what it is, then for each part a line that begins with `===` and
 * its text. Runs on untrusted files, in bounded memory if its thread has a limit: archives are inflated to at most 100 MB,
 * and XML has at most 1,000 levels.
 *
 * @throws DocumentError for one that is damaged, encrypted or too large.
 */
export async function documentText(source: ByteSource, kind: DocumentKind): Promise<DocumentText> {
  const document = await readDocument(source, kind).catch((cause: unknown) => {
    if (cause instanceof DocumentError) throw cause;
    throw new DocumentError("it is damaged", { cause });
  });
  return withMarkers(document);
}

async function readDocument(source: ByteSource, kind: DocumentKind): Promise<Document> {
  // Each reader is loaded on first use.
  if (kind === "zip") return (await import("./archive.ts")).zipDocument(source);
  if (source.size > MAX_DOCUMENT_BYTES)
    throw new DocumentError(`it is larger than ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`);
  const bytes = source.read(0, source.size);
  switch (kind) {
    case "pdf": {
      const pages = await (await import("./pdf.ts")).pdfPages(bytes);
      const empty = pages.filter((page) => page.trim() === "").length;
      if (empty === pages.length)
        throw new DocumentError("it contains no text; its pages may be scanned images");
      return {
        label: "PDF",
        unit: "page",
        parts: pages.map((text, index) => ({ name: String(index + 1), text })),
        notShown: empty === 0 ? [] : [`pages without text, perhaps scanned: ${empty}`],
      };
    }
    case "gzip":
      return (await import("./archive.ts")).gzipDocument(bytes);
    case "office":
      return (await import("./office.ts")).officeDocument(bytes);
    case "mail":
      return (await import("./mail.ts")).mailDocument(bytes);
    case "mbox":
      return (await import("./mail.ts")).mailboxDocument(bytes);
    case "notebook":
      return (await import("./notebook.ts")).notebookDocument(Buffer.from(bytes).toString("utf8"));
  }
}

async function withMarkers(document: Document): Promise<DocumentText> {
  const { unit } = document;
  const summary = summaryOf(document);
  const lines = [`${MARK}${summary}`];
  const parts: { name: string; line: number }[] = [];
  let line = 2;
  let chars = 0;
  for (const [index, part] of document.parts.entries()) {
    const name = nameOf(part, index + 1, unit);
    if (unit !== undefined) {
      lines.push(`${MARK}${name}`);
      parts.push({ name, line });
      line += 1;
    }
    // Only the reader's own lines begin with the mark.
    const text = (await textOf(part))
      .replace(/\r\n?/g, "\n")
      .replace(/^(?==== )/gm, " ")
      .trimEnd();
    if (text === "") continue;
    const room = MAX_CHARS - chars;
    lines.push(text.length > room ? text.slice(0, room) : text);
    if (text.length > room) {
      lines.push(
        `${MARK}The rest is left out: more than ${MAX_CHARS / 1_000_000} million characters.`,
      );
      break;
    }
    chars += text.length;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) line += 1;
    line += 1;
  }
  return { summary, text: `${lines.join("\n")}\n`, unit, parts };
}

async function textOf(part: DocumentPart): Promise<string> {
  if ("text" in part) return part.text;
  if ("rows" in part) return gridText(part.rows);
  return (await import("./html-text.ts")).htmlText(part.html);
}

function nameOf({ name }: DocumentPart, number: number, unit: string | undefined): string {
  if (unit === "sheet") return `sheet ${JSON.stringify(oneLine(name))}`;
  return `${unit ?? ""} ${number}${name === "" || name === String(number) ? "" : `: ${oneLine(name)}`}`;
}

function summaryOf({ label, unit, parts, facts, notShown = [] }: Document): string {
  const rest = notShown.length === 0 ? "" : `; not shown: ${notShown.join(", ")}`;
  const title =
    facts?.title === undefined ? "" : ` ${JSON.stringify(oneLine(facts.title).slice(0, 200))}`;
  if (unit === undefined) return label + title + rest;
  const count = `${parts.length} ${unit}${parts.length === 1 ? "" : "s"}`;
  if (unit !== "sheet") return `${label}${title}, ${count}${rest}`;
  const names = parts.slice(0, MAX_LISTED).map((part) => JSON.stringify(oneLine(part.name)));
  const more = parts.length > MAX_LISTED ? `, and ${parts.length - MAX_LISTED} more` : "";
  return `${label}${title}, ${count}: ${names.join(", ")}${more}${rest}`;
}

/** A name from the document, on one line. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
