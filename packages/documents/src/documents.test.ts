import { describe, expect, it } from "vitest";
import { docx, docxOf, epub, openDocumentFile, pdf, pptx, xlsx, zip } from "../test/testing.ts";
import { type ByteSource, documentText } from "./index.ts";
import { documentKind, hasSignature, partAt } from "./kinds.ts";

const sourceOf = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: (position, length) => bytes.subarray(position, position + length),
});

/** Reads a document as a server does: what it is follows from its name and its first bytes. */
async function read(name: string, bytes: Uint8Array | string) {
  const file = Buffer.from(bytes);
  const kind = documentKind(name);
  if (kind === undefined || !hasSignature(kind, file)) throw new Error(`${name} is not a document`);
  return documentText(sourceOf(file), kind);
}

const textOf = async (...args: Parameters<typeof read>) => (await read(...args)).text;
const problem = async (...args: Parameters<typeof read>) =>
  read(...args).then(
    ({ text }) => text,
    (error: Error) => error.message,
  );

describe("office documents", () => {
  it("reads Word documents as text with headings, lists and tables", async () => {
    const body =
      '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Plan</w:t></w:r></w:p>' +
      "<w:p><w:r><w:t>First, a  word.</w:t></w:r></w:p>" +
      "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>B</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    expect(await textOf("a.docx", docxOf(body))).toBe(
      "=== Word document\n# Plan\n\nFirst, a word.\n\nA | B\n",
    );
  });

  it("never lets a document's text imitate the reader's own lines", async () => {
    const { text, parts } = await read("a.docx", docx("=== page 7", "x"));
    expect(text).toBe("=== Word document\n === page 7\n\nx\n");
    expect(parts).toEqual([]);
  });

  const book = xlsx({
    Sales: { B2: "Region", C2: "Sum", B3: "North", C3: 12.5, B5: "South", C5: 7 },
    "Year's end": { A1: "closed" },
    Empty: {},
  });

  it("lists the sheets of a workbook and shows cells with their row and column", async () => {
    const { text, parts } = await read("a.xlsx", book);
    expect(text).toBe(
      [
        '=== Excel workbook, 3 sheets: "Sales", "Year\'s end", "Empty"',
        '=== sheet "Sales"',
        "row\tB\tC",
        "2\tRegion\tSum",
        "3\tNorth\t12.5",
        "5\tSouth\t7",
        '=== sheet "Year\'s end"',
        "row\tA",
        "1\tclosed",
        '=== sheet "Empty"',
        "(empty)",
        "",
      ].join("\n"),
    );
    expect(parts.map(({ name, line }) => [line, name])).toEqual([
      [2, 'sheet "Sales"'],
      [7, 'sheet "Year\'s end"'],
      [10, 'sheet "Empty"'],
    ]);
    expect([1, 2, 6, 7, 11].map((line) => partAt(parts, line))).toEqual([
      undefined,
      'sheet "Sales"',
      'sheet "Sales"',
      'sheet "Year\'s end"',
      'sheet "Empty"',
    ]);
  });

  it("shows formulas without a cached value, and errors unchanged", async () => {
    const cells = {
      A1: 6,
      A2: '<c r="A2"><f>SUM(A1:A1)</f><v></v></c>',
      A3: '<c r="A3" t="str"><f>A1&amp;"x"</f></c>',
      A4: '<c r="A4" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
      A5: '<c r="A5"><f>A1*2</f><v>12</v></c>',
    };
    expect(await textOf("a.xlsx", xlsx({ S: cells }))).toContain(
      'row\tA\n1\t6\n2\t=SUM(A1:A1)\n3\t=A1&"x"\n4\t#DIV/0!\n5\t12\n',
    );
  });

  it.each<[string, Buffer, string]>([
    [
      "a.docx",
      docxOf("", { "word/media/a.png": "", "docProps/thumbnail.jpeg": "" }),
      "pictures: 1",
    ],
    [
      "a.odt",
      openDocumentFile("text", "", "", { "Object 1/content.xml": "<a/>" }),
      "embedded objects: 1",
    ],
    ["a.pdf", pdf(["One", ""]), "pages without text, perhaps scanned: 1"],
  ])("says in the first line what it does not show of %s", async (name, file, what) => {
    expect((await read(name, file)).summary).toMatch(new RegExp(`; not shown: ${what}$`));
  });

  it("reads presentations slide by slide", async () => {
    const { text, parts } = await read("a.pptx", pptx("Welcome", "Numbers &amp; plans"));
    expect(text).toBe(
      "=== PowerPoint presentation, 2 slides\n=== slide 1\nWelcome\n=== slide 2\nNumbers & plans\n",
    );
    expect(parts).toHaveLength(2);
  });

  it("reads OpenDocument texts without comments and deleted text", async () => {
    const body =
      "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>" +
      '<text:h text:outline-level="2">Title</text:h><text:p>One<text:s text:c="2"/>two<office:annotation><text:p>remark</text:p></office:annotation></text:p>' +
      "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>";
    expect(await textOf("a.odt", openDocumentFile("text", body))).toBe(
      "=== OpenDocument text\n## Title\n\nOne two\n\n- item\n",
    );
  });

  it("reads OpenDocument spreadsheets and presentations", async () => {
    const sheet =
      '<table:table table:name="S"><table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>' +
      '<table:table-row><table:table-cell table:number-columns-repeated="2"/><table:table-cell><text:p>a &lt; b</text:p></table:table-cell><table:table-cell office:value="5"><office:annotation><text:p>a remark</text:p></office:annotation></table:table-cell></table:table-row>' +
      '<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>';
    expect(await textOf("a.ods", openDocumentFile("spreadsheet", sheet))).toBe(
      '=== OpenDocument spreadsheet, 1 sheet: "S"\n=== sheet "S"\nrow\tC\tD\n3\ta < b\t5\n',
    );
    const slides = "<draw:page><draw:frame><text:p>Hello</text:p></draw:frame></draw:page>";
    expect(await textOf("a.odp", openDocumentFile("presentation", slides))).toContain(
      "=== slide 1\nHello",
    );
  });

  it("reads the chapters of an EPUB", async () => {
    const book = epub(
      "Two Trees",
      '<h1>Oak</h1><p>Old <a id="x"/>wood.</p>',
      "<h2>Elm</h2><ul><li>one</li><li>two</li></ul>",
    );
    expect(await textOf("a.epub", book)).toBe(
      '=== EPUB book "Two Trees", 2 chapters\n=== chapter 1: Oak\n# Oak\n\nOld wood.\n=== chapter 2: Elm\n## Elm\n\n- one\n- two\n',
    );
  });

  it("says that a document is password-protected, or in an old format", async () => {
    const ole = (name: string) =>
      Buffer.concat([
        Buffer.from("d0cf11e0a1b11ae1", "hex"),
        Buffer.alloc(600),
        Buffer.from(name, "utf16le"),
      ]);
    expect(await problem("a.docx", ole("EncryptedPackage"))).toBe("it is password-protected");
    expect(await problem("a.xlsx", ole("Workbook"))).toBe("it has the format of Office 97–2003");
    const locked = zip({
      "content.xml": "\u0001\u0002",
      "META-INF/manifest.xml":
        "<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>",
    });
    expect(await problem("a.odt", locked)).toBe("it is password-protected");
    expect(await problem("a.docx", zip({ "a.txt": "x" }))).toBe(
      "it is not an Office, OpenDocument or EPUB document",
    );
    expect(await problem("a.docx", docx("x").subarray(0, 300))).toBe("it is damaged");
  });
});

describe("limits", () => {
  it("refuses an archive that inflates to too much", async () => {
    const bomb = zip({ "word/document.xml": "0".repeat(101_000_000) });
    expect(bomb.length).toBeLessThan(200_000);
    expect(await problem("a.docx", bomb)).toBe("its parts are larger than 100 MB");
  });

  it("refuses too many parts", async () => {
    const bomb = zip(
      Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`word/${at}.bin`, ""])),
    );
    expect(await problem("a.docx", bomb)).toBe("it has more than 10000 parts");
  });

  it.each<[string, Buffer]>([
    ["a.docx", docxOf("<w:p>".repeat(100_000))],
    ["a.odt", openDocumentFile("text", "<text:span>".repeat(100_000))],
  ])("refuses elements that are nested too deeply in %s", async (name, bomb) => {
    expect(await problem(name, bomb)).toBe("its elements are nested more than 1000 deep");
  });

  it("does not expand the entities of a DTD", async () => {
    const entities = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
    const file = zip({
      "content.xml": `${entities}<office:document-content><office:body><office:text><text:p>x&b;</text:p></office:text></office:body></office:document-content>`,
    });
    expect(await textOf("a.odt", file)).not.toContain("aaaa");
  });

  it("reads a paragraph of a million pieces, and tables in tables, in linear time", async () => {
    const book = epub(
      "Long",
      `<p>${"<b>x</b> <a href='https://a.example/'>y</a>".repeat(300_000)}</p>`,
    );
    expect((await textOf("a.epub", book)).length).toBeGreaterThan(1_000_000);
    const cell = "<table:table><table:table-row><table:table-cell>";
    const nested = openDocumentFile("text", `${cell.repeat(200)}<text:p>inside</text:p>`);
    expect((await textOf("a.odt", nested)).match(/inside/g)).toHaveLength(1);
  });

  it("refuses sheets of billions of cells", async () => {
    expect(await problem("a.xlsx", xlsx({ S: { A1: "x", XFD1048576: "y" } }))).toBe(
      "its sheets span more than 10 million cells",
    );
    const row =
      '<table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row>';
    expect(
      await problem("a.ods", openDocumentFile("spreadsheet", `<table:table>${row}</table:table>`)),
    ).toBe("its sheets have more than 5 million cells");
  });
});

describe("PDF", () => {
  it("reads page by page", async () => {
    expect(await textOf("a.pdf", pdf(["One", "Two", "Three"]))).toBe(
      "=== PDF, 3 pages\n=== page 1\nOne\n=== page 2\nTwo\n=== page 3\nThree\n",
    );
  });

  it("says what is wrong with one without text, a damaged and an encrypted one", async () => {
    expect(await problem("a.pdf", pdf([""]))).toContain("it contains no text");
    expect(await problem("a.pdf", "%PDF-1.7\nx")).toBe("it is damaged");
    const locked = pdf(["x"])
      .toString("latin1")
      .replace(
        "/Root 1 0 R",
        `/Root 1 0 R /ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> >>`,
      );
    expect(await problem("a.pdf", Buffer.from(locked, "latin1"))).toBe("it is password-protected");
  });
});

describe("mail", () => {
  const message = [
    "From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>",
    "To: Ada <ada@example.com>",
    "Subject: =?utf-8?B?R3LDvMOfZQ==?=",
    "Date: Mon, 2 Nov 2026 10:00:00 +0100",
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "Sch=C3=B6ne Gr=C3=BC=C3=9Fe",
    "--b",
    'Content-Type: application/pdf; name="plan.pdf"',
    "Content-Transfer-Encoding: base64",
    "Content-Disposition: attachment",
    "",
    Buffer.from("12345").toString("base64"),
    "--b--",
    "",
  ].join("\r\n");

  it("decodes headers and bodies and lists attachments", async () => {
    expect(await textOf("a.eml", message)).toBe(
      [
        "=== Email",
        "From: Jürgen <j@example.com>",
        "To: Ada <ada@example.com>",
        "Date: 2026-11-02T09:00:00.000Z",
        "Subject: Grüße",
        "",
        "Schöne Grüße",
        "",
        "Attachments:",
        "- plan.pdf (application/pdf, 5 bytes)",
        "",
      ].join("\n"),
    );
    const html =
      "Subject: x\nContent-Type: text/html\n\n<p>Hello <b>there</b><script>no</script></p>";
    expect(await textOf("a.eml", html)).toContain("Hello there");
  });

  it("splits a mailbox into messages", async () => {
    const box =
      "From a@b Mon Nov  2 10:00:00 2026\nSubject: One\n\nHello\n>From the start\n\nFrom c@d Mon Nov  2 11:00:00 2026\nSubject: Two\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nGrüße\n";
    expect(await textOf("a.mbox", box)).toBe(
      "=== Mailbox, 2 messages\n=== message 1: One\nSubject: One\n\nHello\nFrom the start\n=== message 2: Two\nSubject: Two\n\nGrüße\n",
    );
  });
});

it("reads notebooks with their text outputs, without pictures", async () => {
  const notebook = {
    nbformat: 4,
    cells: [
      { cell_type: "markdown", source: ["# Title\n", "text"] },
      {
        cell_type: "code",
        source: "1 + 1",
        outputs: [
          { output_type: "execute_result", data: { "text/plain": ["2"], "image/png": "AAAA" } },
          { output_type: "error", traceback: ["\u001b[31mBoom\u001b[0m"] },
        ],
      },
    ],
  };
  const text = await textOf("a.ipynb", JSON.stringify(notebook));
  expect(text).toBe(
    "=== Jupyter notebook, 2 cells\n=== cell 1: markdown\n# Title\ntext\n=== cell 2: code\n1 + 1\n--- output\n2\n(image/png)\nBoom\n",
  );
  expect(text).not.toContain("AAAA");
  expect(await problem("a.ipynb", '{"cells":')).toBe("it is not valid JSON");
  expect(await problem("a.ipynb", '{"a":1}')).toBe("it is not a Jupyter notebook");
});

describe("archives", () => {
  it("lists ZIP archives, also behind a program", async () => {
    const archive = zip({ "src/a.ts": "12345", "b\n=== c": "x" });
    const listed = "2 files, 6 bytes uncompressed\nsize\tname\n";
    const text = await textOf("a.zip", archive);
    expect(text).toContain(`=== ZIP archive\n${listed}5\t`);
    expect(text).toMatch(/^5\tsrc\/a\.ts$/m);
    expect(text).toMatch(/\tb\?=== c$/m);
    expect(await textOf("a.jar", Buffer.concat([Buffer.from("#!/bin/sh\n"), archive]))).toContain(
      "src/a.ts",
    );
    expect(await problem("a.zip", "PK\u0003\u0004 nothing")).toContain("its directory is missing");
  });
});
