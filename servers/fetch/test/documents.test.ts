import { openDocumentFile } from "@refmcp/documents/testing";
import { describe, expect, it } from "vitest";
import { isLong } from "../../../vitest.long.ts";
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
  it("has its headings, links and tables with merged cells", async () => {
    const cell = (text: string, more = ""): string =>
      `<w:tc><w:tcPr>${more}</w:tcPr>${paragraph(text)}</w:tc>`;
    const text = await read(
      word(
        paragraph("The mill", "H1") +
          `<w:p><w:hyperlink r:id="rId2"><w:r><w:t>Bread &amp; flour</w:t></w:r></w:hyperlink></w:p>` +
          `<w:tbl><w:tr>${cell("Who")}${cell("Price")}${cell("Note")}</w:tr><w:tr>${cell("All", '<w:gridSpan w:val="2"/>')}${cell("free")}</w:tr></w:tbl>` +
          paragraph("f(x)"),
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
