import { epub, openDocumentFile } from "@refmcp/documents/testing";
import { describe, expect, it } from "vitest";
import { isLong, itLong } from "../../../vitest.long.ts";
import { officeFile, relations } from "./files.ts";
import { failureOf, fetched, run, site, texts, webOf } from "./lab.ts";

/** The text that is read from a file, whatever type the site declares. */
async function read(body: Buffer, args: Record<string, unknown> = {}): Promise<string> {
  const lab = await site({
    "/file": { headers: { "content-type": "application/octet-stream" }, body },
  });
  return (
    await fetched(await webOf([lab]), { url: `${lab.origin}/file`, max_length: 100_000, ...args })
  ).text;
}

const WORD =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const word = (body: string, parts: Record<string, string> = {}): Buffer =>
  officeFile("word/document.xml", "wordprocessingml.document", {
    "word/document.xml": `<w:document ${WORD}><w:body>${body}</w:body></w:document>`,
    "word/_rels/document.xml.rels": relations({
      rId1: ["styles", "styles.xml"],
      rId2: ["hyperlink", "https://mill.example/bread"],
    }),
    "word/styles.xml": `<w:styles ${WORD}><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    ...parts,
  });
const paragraph = (text: string, style = ""): string =>
  `<w:p>${style === "" ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

describe("a Word document", () => {
  it("has its headings, links, tables with merged cells, formulas and boxes", async () => {
    const cell = (text: string, more = ""): string =>
      `<w:tc><w:tcPr>${more}</w:tcPr>${paragraph(text)}</w:tc>`;
    const box = (checked: number): string =>
      `<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="${checked}"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>x</w:t></w:r></w:sdtContent></w:sdt>`;
    const text = await read(
      word(
        paragraph("The mill", "H1") +
          `<w:p><w:hyperlink r:id="rId2"><w:r><w:t>Bread &amp; flour</w:t></w:r></w:hyperlink></w:p>` +
          `<w:tbl><w:tr>${cell("Who")}${cell("Price")}${cell("Note")}</w:tr><w:tr>${cell("All", '<w:gridSpan w:val="2"/>')}${cell("free")}</w:tr></w:tbl>` +
          "<w:p><m:oMath><m:r><m:t>f</m:t></m:r><m:d><m:e><m:r><m:t>x</m:t></m:r></m:e></m:d><m:r><m:t>=</m:t></m:r><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>" +
          `<w:p>${box(1)}<w:r><w:t>ground</w:t></w:r></w:p><w:p>${box(0)}<w:r><w:t>baked</w:t></w:r></w:p>`,
        {
          "docProps/core.xml":
            '<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Guide</dc:title><dc:creator>Ada</dc:creator></cp:coreProperties>',
        },
      ),
    );
    expect(text).toContain(
      '["Guide" | application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    );
    expect(text).toContain("# The mill\n\n[Bread & flour](https://mill.example/bread)");
    expect(text).toContain("| Who | Price | Note |\n| --- | --- | --- |\n| All |  | free |");
    expect(text).toContain("f(x)=(a)/(b)");
    expect(text).toMatch(/☒ ground\n\n☐ baked/);
  });

  it("reads no local file referenced as an image, and expands no entities", async () => {
    const picture =
      '<w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="p" descr="A grey mill"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:link="rId9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>';
    const text = await read(
      word(`<w:p><w:r>${picture}</w:r></w:p>`, {
        "word/_rels/document.xml.rels": relations({
          rId9: ["image", "file:///etc/hostname"],
        }).replace("/>", ' TargetMode="External"/>'),
      }),
    );
    expect(text).toContain("A grey mill");
    expect(text).not.toContain("base64");
    const laughs = `<!DOCTYPE x [<!ENTITY a "haha"><!ENTITY b "${"&a;".repeat(1_000)}"><!ENTITY c "${"&b;".repeat(1_000)}">]>`;
    const bomb = officeFile("word/document.xml", "wordprocessingml.document", {
      "word/document.xml": `${laughs}<w:document ${WORD}><w:body>${paragraph("&c;")}</w:body></w:document>`,
    });
    expect((await read(bomb).catch((error: Error) => error.message)).length).toBeLessThan(2_000);
  });
});

const EXCEL = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const excel = (...sheets: readonly string[]): Buffer =>
  officeFile("xl/workbook.xml", "spreadsheetml.sheet", {
    "xl/workbook.xml": `<workbook ${EXCEL} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${sheets.map((_, index) => `<sheet name="S&amp;${index}" sheetId="${index + 1}" r:id="rId${index}"/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations({
      ...Object.fromEntries(
        sheets.map(
          (_, index) => [`rId${index}`, ["worksheet", `worksheets/s${index}.xml`]] as const,
        ),
      ),
      rStyle: ["styles", "styles.xml"],
    }),
    "xl/styles.xml": `<styleSheet ${EXCEL}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(
      sheets.map((cells, index) => [
        `xl/worksheets/s${index}.xml`,
        `<worksheet ${EXCEL}><sheetData>${cells}</sheetData></worksheet>`,
      ]),
    ),
  });
const text = (at: string, value: string): string =>
  `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;

describe("a workbook", () => {
  it("has a heading for each sheet and a table for each block of its rows, dates as dates", async () => {
    const shown = await read(
      excel(
        `<row r="2">${text("B2", "Day")}${text("C2", "a|b")}</row><row r="3"><c r="B3" s="1"><v>46000</v></c><c r="C3"><v>1.5</v></c></row><row r="6">${text("E6", "apart")}</row>`,
        `<row r="1"><c r="A1" t="b"><v>1</v></c></row>`,
      ),
    );
    expect(shown).toContain(
      "## S&0\n\n| Day | a\\|b |\n| --- | --- |\n| 2025-12-09 | 1.5 |\n\n| apart |",
    );
    expect(shown).toContain("## S&1\n\n| true |");
  });

  it("with a cell in the farthest corner does not exhaust memory, and the next file is read", async () => {
    const lab = await site({
      "/far": excel(
        `<row r="1">${text("A1", "near")}</row><row r="1048576">${text("XFD1048576", "far")}</row>`,
      ),
      "/near": excel(`<row r="1">${text("A1", "near")}</row>`),
    });
    const web = await webOf([lab]);
    const far = await fetched(web, { url: `${lab.origin}/far` }).catch((error: Error) => ({
      text: error.message,
    }));
    expect(far.text).toMatch(/near|could not be read as text/);
    expect((await fetched(web, { url: `${lab.origin}/near` })).text).toContain("near");
  });
});

const SLIDE =
  'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const shape = (type: string, ...lines: readonly string[]): string =>
  `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${lines.join("")}</p:txBody></p:sp>`;
const line = (words: string, style = ""): string =>
  `<a:p><a:pPr ${style}/><a:r><a:t>${words}</a:t></a:r></a:p>`;
const tree = (root: string, shapes: string): string =>
  `<p:${root} ${SLIDE}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:${root}>`;

itLong(
  "a presentation has its slides in their order: titles, lists, tables, pictures' texts and notes",
  async () => {
    const shown = await read(
      officeFile("ppt/presentation.xml", "presentationml.presentation", {
        "ppt/presentation.xml": `<p:presentation ${SLIDE}><p:sldIdLst><p:sldId id="2" r:id="rId2"/><p:sldId id="1" r:id="rId1"/></p:sldIdLst></p:presentation>`,
        "ppt/_rels/presentation.xml.rels": relations({
          rId1: ["slide", "slides/slide1.xml"],
          rId2: ["slide", "/ppt/slides/slide2.xml"],
        }),
        "ppt/slides/slide2.xml": tree(
          "sld",
          shape("title", line("The river")) +
            shape("body", line("bends"), line("a little", 'lvl="1"'), line("and on")) +
            shape("ftr", line("FOOTER")) +
            '<p:grpSp><p:pic><p:nvPicPr><p:cNvPr id="3" name="p" descr="A grey mill"/></p:nvPicPr></p:pic></p:grpSp>',
        ),
        "ppt/slides/_rels/slide2.xml.rels": relations({
          rId1: ["notesSlide", "../notesSlides/n.xml"],
        }),
        "ppt/notesSlides/n.xml": tree("notes", shape("body", line("Speak slowly."))),
        "ppt/slides/slide1.xml": tree(
          "sld",
          "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Bread</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>€ 3</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
        ),
      }),
    );
    expect(shown).toContain(
      "## The river\n\n- bends\n  - a little\n- and on\n\nA grey mill\n\n### Notes\n\nSpeak slowly.\n\n## Slide 2\n\n| Bread",
    );
    expect(shown).toContain("| Bread | € 3 |");
    expect(shown).not.toContain("FOOTER");
  },
);

itLong("OpenDocument files and EPUB books become Markdown", async () => {
  const cell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`;
  const row = `<table:table-row>${cell("Bread")}${cell("3")}</table:table-row>`;
  const texts = await Promise.all(
    [
      openDocumentFile(
        "text",
        '<text:h text:outline-level="2">The mill</text:h><text:p>It turns.</text:p>',
      ),
      openDocumentFile(
        "spreadsheet",
        `<table:table table:name="Prices">${row}${row}</table:table>`,
      ),
      openDocumentFile("presentation", "<draw:page><text:p>Hello</text:p></draw:page>"),
      epub("Trees", "<h1>Oak</h1><p>Old wood.</p>", "<h1>Elm</h1><p>Tall.</p>"),
    ].map((file) => read(file)),
  );
  expect(texts[0]).toContain("## The mill\n\nIt turns.");
  expect(texts[1]).toContain("## Prices\n\n| Bread | 3 |");
  expect(texts[2]).toContain("## Slide 1\n\nHello");
  expect(texts[3]).toContain("# Oak\n\nOld wood.\n\n# Elm\n\nTall.");
});

it("a password-protected document says so", async () => {
  const locked = openDocumentFile("text", "<text:p>x</text:p>", "<manifest:encryption-data/>");
  await expect(read(locked)).rejects.toThrow("it is password-protected");
});

describe("a malicious document", () => {
  const many = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`word/x${index}.xml`, ""]));
  /** The sizes in an archive's directory, all made small (APPNOTE 4.3.12). */
  const lying = (bytes: Buffer): Buffer => {
    for (let at = bytes.indexOf("PK\x01\x02"); at !== -1; at = bytes.indexOf("PK\x01\x02", at + 4))
      if (bytes.readUInt32LE(at + 24) > 1_000_000) bytes.writeUInt32LE(1_000, at + 24);
    return bytes;
  };
  const large = paragraph("x".repeat(40_000_000));
  const tooLarge: [string, () => Buffer, RegExp] = [
    "of 120 MB",
    () => word("", { "word/a.xml": large, "word/b.xml": large, "word/c.xml": large }),
    /larger than 100 MB/,
  ];
  it.each<[string, () => Buffer, RegExp]>([
    ["with 10,001 parts", () => word("", many(10_001)), /more than 10000 parts/],
    // packages/documents has it, too.
    ...(isLong ? [tooLarge] : []),
    [
      "that calls itself small",
      () => lying(word(paragraph("x".repeat(2_000_000)))),
      /could not be read as text/,
    ],
    [
      "without its beginning",
      () => word(paragraph("x")).subarray(0, -40),
      /could not be read as text|has no text/,
    ],
  ])("%s is refused with an explanation", async (_what, bytes, said) => {
    const lab = await site({ "/file": bytes() });
    const answer = await run(await webOf([lab]), "fetch", { url: `${lab.origin}/file` }).then(
      (shown) => texts(shown).join("\n"),
      (error: Error) => error.message,
    );
    expect(answer).toMatch(said);
  });

  it("has no selector", async () => {
    const lab = await site({ "/file": word(paragraph("x")) });
    const failure = await failureOf(
      run(await webOf([lab]), "fetch", { url: `${lab.origin}/file`, selector: "p" }),
    );
    expect(failure.message).toContain("selector only works on HTML");
  });
});
