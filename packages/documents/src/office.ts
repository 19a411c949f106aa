import { type Document, DocumentError, type DocumentFacts, type DocumentPart } from "./document.ts";
import { escaped, factIn, type Parts, partsOf, tableOf, xmlOf } from "./xml.ts";

/** An OLE file (MS-CFB): an encrypted document, or one of Office 97–2003. */
const OLE = 0xd0cf11e0;

/**
 * A document of Office Open XML (ECMA-376), OpenDocument (ISO/IEC 26300) or EPUB.
 *
 * @throws DocumentError for one that is encrypted, has too many or too large parts, or none of these formats; the
 *   libraries' errors for a damaged one.
 */
export async function officeDocument(bytes: Uint8Array): Promise<Document> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length > 4 && file.readUInt32BE() === OLE) {
    const isEncrypted = file.includes(Buffer.from("EncryptedPackage", "utf16le"));
    throw new DocumentError(
      isEncrypted ? "it is password-protected" : "it has the format of Office 97–2003",
    );
  }
  const parts = partsOf(bytes);
  const has = (folder: string): boolean =>
    Object.keys(parts).some((name) => name.startsWith(folder));
  const facts = factsOf(parts);
  const notShown = notShownOf(Object.keys(parts));
  // Each is loaded on first use.
  if (has("word/")) {
    const { marginsHtml, wordHtml } = await import("./office/word.ts");
    const html = (await wordHtml(parts)) + marginsHtml(parts);
    return { label: "Word document", parts: [{ name: "", html }], facts, notShown };
  }
  if (has("xl/")) {
    const sheets = await (await import("./office/excel.ts")).excelSheets(parts);
    return { label: "Excel workbook", unit: "sheet", parts: sheets, facts, notShown };
  }
  if (has("ppt/")) {
    const slides = (await import("./office/slides.ts")).slidesOf(parts);
    return { label: "PowerPoint presentation", unit: "slide", parts: slides, facts, notShown };
  }
  if (parts["META-INF/container.xml"] !== undefined)
    return { ...(await import("./office/epub.ts")).epubDocument(parts), notShown };
  if (parts["content.xml"] !== undefined)
    return { ...(await import("./office/open-document.ts")).openDocument(parts), notShown };
  throw new DocumentError("it is not an Office, OpenDocument or EPUB document");
}

const NOT_SHOWN: readonly (readonly [what: string, names: RegExp])[] = [
  ["picture", /^(?!docProps|Thumbnails).*\.(?:png|jpe?g|gif|svg|emf|wmf|tiff?|bmp|webp)$/i],
  ["chart", /\/charts\/chart\d*\.xml$/],
  ["diagram", /\/diagrams\/data\d*\.xml$/],
  ["embedded object", /\/embeddings\/|^Object \d+\/content\.xml$/],
  ["file of comment", /^(?:xl|ppt)\/.*comment\w*\.xml$/i],
];

function notShownOf(names: readonly string[]): string[] {
  return NOT_SHOWN.flatMap(([what, pattern]) => {
    const { length } = names.filter((name) => pattern.test(name));
    return length === 0 ? [] : [`${what}s: ${length}`];
  });
}

/** The core properties (ECMA-376, part 2, 8.3). */
function factsOf(parts: Parts): DocumentFacts {
  const core = xmlOf(parts, "docProps/core.xml");
  return {
    title: factIn(core, "dc:title"),
    creator: factIn(core, "dc:creator"),
    modified: factIn(core, "dcterms:modified"),
  };
}

/** A whole document as HTML: a heading for each slide and sheet, and a table of a sheet's rows. */
export function documentHtml({ unit, parts }: Document): string {
  return parts.map((part) => partHtml(part, unit)).join("");
}

function partHtml(part: DocumentPart, unit: string | undefined): string {
  if ("html" in part) {
    const isUntitled = unit === "slide" && !part.html.includes("<h2>");
    return `${isUntitled ? `<h2>Slide ${part.name}</h2>` : ""}${part.html}`;
  }
  if ("text" in part) return `<h2>${escaped(part.name)}</h2><pre>${escaped(part.text)}</pre>`;
  const rows = part.rows.filter((row) => row.some((cell) => cell !== ""));
  return `<h2>${escaped(part.name)}</h2>${tableOf(rows.map((row) => row.map(escaped)))}`;
}
