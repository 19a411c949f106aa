import { strToU8, type ZipOptions, zipSync } from "fflate";

/** A PDF (1.4) with a line of text on each page. */
export function pdf(pages: readonly string[]): Buffer {
  const font = 3 + pages.length * 2;
  const kids = pages.map((_, index) => `${3 + index * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    ...pages.flatMap((text, index) => {
      const drawing = `BT /F1 18 Tf 72 700 Td (${text}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${4 + index * 2} 0 R /Resources << /Font << /F1 ${font} 0 R >> >> >>`,
        `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
      ];
    }),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  return pdfOf(objects);
}

/** A PDF (1.4) of these objects. The first is the catalog. */
export function pdfOf(objects: readonly string[]): Buffer {
  let text = "%PDF-1.4\n";
  const places: number[] = [];
  for (const [index, object] of objects.entries()) {
    places.push(text.length);
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const table = text.length;
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

/** An archive of parts: a document of Office Open XML, where `type` is that of its main part `main`. */
export function officeFile(
  main: string,
  type: string,
  parts: Readonly<Record<string, string>>,
): Buffer {
  const ooxml = "application/vnd.openxmlformats-officedocument";
  const all = {
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/${main}" ContentType="${ooxml}.${type}.main+xml"/></Types>`,
    "_rels/.rels": relations({ rId1: ["officeDocument", main] }),
    ...parts,
  };
  return zip(all);
}

/** A ZIP archive of text files. */
export function zip(files: Readonly<Record<string, string>>): Buffer {
  // A document's type is its first part, which programs read without decompressing it.
  const parts = Object.entries(files).map(([name, text]): [string, [Uint8Array, ZipOptions]] => {
    return [name, [strToU8(text), { level: name === "mimetype" ? 0 : 9 }]];
  });
  return Buffer.from(zipSync(Object.fromEntries(parts)));
}

/** A part's relationships: by their id the type and the target. */
export function relations(
  targets: Readonly<Record<string, readonly [type: string, target: string]>>,
): string {
  const lines = Object.entries(targets).map(
    ([id, [type, target]]) =>
      `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"${/^https?:/.test(target) ? ' TargetMode="External"' : ""}/>`,
  );
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${lines.join("")}</Relationships>`;
}

/** A PDF of two pages. */
export const twoPagePdf: Buffer = pdf(["The first page", "The second page"]);

const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

/** A Word document of this body, in WordprocessingML. */
export const docxOf = (body: string, others: Readonly<Record<string, string>> = {}): Buffer =>
  officeFile("word/document.xml", "wordprocessingml.document", {
    "word/document.xml": `<w:document ${WORD}><w:body>${body}</w:body></w:document>`,
    ...others,
  });

/** A Word document with a paragraph for each text. */
export const docx = (...paragraphs: readonly string[]): Buffer =>
  docxOf(paragraphs.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join(""));

/** An Excel workbook: by the name of a sheet its cells, by their address; one may be XML. */
export function xlsx(
  sheets: Readonly<Record<string, Readonly<Record<string, string | number>>>>,
): Buffer {
  const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const names = Object.keys(sheets);
  const parts = Object.values(sheets).map((cells, index) => {
    const rows = new Map<string, string>();
    for (const [address, value] of Object.entries(cells)) {
      const row = /\d+/.exec(address)?.[0] ?? "1";
      const text = String(value);
      const inner =
        typeof value === "number"
          ? `<c r="${address}"><v>${value}</v></c>`
          : `<c r="${address}" t="inlineStr"><is><t>${text}</t></is></c>`;
      const cell = text.startsWith("<c ") ? text : inner;
      rows.set(row, (rows.get(row) ?? "") + cell);
    }
    const data = [...rows].map(([row, cells]) => `<row r="${row}">${cells}</row>`).join("");
    return [
      `xl/worksheets/sheet${index + 1}.xml`,
      `<worksheet ${namespace}><sheetData>${data}</sheetData></worksheet>`,
    ];
  });
  return officeFile("xl/workbook.xml", "spreadsheetml.sheet", {
    "xl/workbook.xml": `<workbook ${namespace} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${names.map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations(
      Object.fromEntries(
        names.map((_, index) => [
          `rId${index + 1}`,
          ["worksheet", `worksheets/sheet${index + 1}.xml`],
        ]),
      ),
    ),
    ...Object.fromEntries(parts),
  });
}

/** A PowerPoint presentation with one line of text on each slide. */
export function pptx(...slides: readonly string[]): Buffer {
  const namespaces =
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
  const ids = slides
    .map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`)
    .join("");
  return officeFile("ppt/presentation.xml", "presentationml.presentation", {
    "ppt/presentation.xml": `<p:presentation ${namespaces}><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relations(
      Object.fromEntries(
        slides.map((_, index) => [`rId${index + 1}`, ["slide", `slides/slide${index + 1}.xml`]]),
      ),
    ),
    ...Object.fromEntries(
      slides.map((text, index) => [
        `ppt/slides/slide${index + 1}.xml`,
        `<p:sld ${namespaces}><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`,
      ]),
    ),
  });
}

const OPEN = ["office", "text", "table", "draw", "presentation"]
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(" ");

/** An OpenDocument of this kind, body and entries of its manifest. */
export function openDocumentFile(
  kind: "text" | "spreadsheet" | "presentation",
  body: string,
  manifest = "",
  others: Readonly<Record<string, string>> = {},
): Buffer {
  return zip({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    "content.xml": `<office:document-content ${OPEN}><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    "META-INF/manifest.xml": `<manifest:manifest>${manifest}</manifest:manifest>`,
    ...others,
  });
}

/** An EPUB book of chapters in XHTML. */
export function epub(title: string, ...chapters: readonly string[]): Buffer {
  const items = chapters.map(
    (_, index) =>
      `<item id="c${index}" href="text/c${index}.xhtml" media-type="application/xhtml+xml"/>`,
  );
  return zip({
    mimetype: "application/epub+zip",
    "META-INF/container.xml":
      '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    "OPS/book.opf": `<package><metadata><dc:title>${title}</dc:title></metadata><manifest>${items.join("")}</manifest><spine>${chapters.map((_, index) => `<itemref idref="c${index}"/>`).join("")}</spine></package>`,
    ...Object.fromEntries(
      chapters.map((html, index) => [
        `OPS/text/c${index}.xhtml`,
        `<html><head><title>Not shown</title></head><body>${html}</body></html>`,
      ]),
    ),
  });
}
