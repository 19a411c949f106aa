// 200 words hidden in a home directory in the ways that other programs store text: each must be found by search_text, or
// its answer must say what was not searched.
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { peers, RawClient } from "../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";

export const title = "needles in a foreign home directory";

/** @typedef {string | Uint8Array | { link: string }} Content */
/** @typedef {(word: string, index: number) => Record<string, Content>} Hide */
/** @typedef {(parts: Record<string, Uint8Array>) => Uint8Array} Zip */

const utf8 = (/** @type {string} */ text) => new TextEncoder().encode(text);
const latin = (/** @type {string} */ text) => Buffer.from(text, "latin1");
const base64 = (/** @type {string} */ text) => Buffer.from(text).toString("base64");
const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const OFFICE = "application/vnd.openxmlformats-officedocument";

/** @type {(zip: Zip, main: string, type: string, parts: Record<string, string>) => Uint8Array} */
function officeFile(zip, main, type, parts) {
  const all = {
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/${main}" ContentType="${OFFICE}.${type}.main+xml"/></Types>`,
    "_rels/.rels": relations("officeDocument", main),
    ...parts,
  };
  return zip(Object.fromEntries(Object.entries(all).map(([name, text]) => [name, utf8(text)])));
}

const relations = (/** @type {string} */ type, /** @type {string} */ target) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;

/** How texts are stored, and how many words each way hides. @type {(zip: Zip) => [what: string, count: number, hide: Hide][]} */
const ways = (zip) => {
  /** @type {(body: string, others?: Record<string, string>) => Uint8Array} */
  const docx = (body, others = {}) =>
    officeFile(zip, "word/document.xml", "wordprocessingml.document", {
      "word/document.xml": `<w:document ${WORD}><w:body>${body}</w:body></w:document>`,
      ...others,
    });
  const paragraph = (/** @type {string} */ text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const sheet = (/** @type {string} */ cell) => {
    const ns = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
    return officeFile(zip, "xl/workbook.xml", "spreadsheetml.sheet", {
      "xl/workbook.xml": `<workbook ${ns} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": relations("worksheet", "worksheets/sheet1.xml"),
      "xl/worksheets/sheet1.xml": `<worksheet ${ns}><sheetData><row r="1">${cell}</row></sheetData></worksheet>`,
    });
  };
  const open = (/** @type {string} */ body, /** @type {string} */ styles) =>
    zip({
      mimetype: utf8("application/vnd.oasis.opendocument.text"),
      "content.xml": utf8(
        `<office:document-content><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
      ),
      "styles.xml": utf8(
        `<office:document-styles><style:footer>${styles}</style:footer></office:document-styles>`,
      ),
    });
  const mail = (/** @type {string} */ head, /** @type {string} */ body) =>
    `Return-Path: <a@example.com>\nFrom: Ada <a@example.com>\nSubject: a message\nMIME-Version: 1.0\n${head}\n\n${body}\n`;
  return [
    ["notes in Markdown", 20, (word, i) => ({ [`notes/n${i}.md`]: `# Note\n\n- ${word}\n` })],
    [
      "a model cache of links",
      20,
      (word, i) => ({
        [`.cache/huggingface/hub/m${i}/blobs/b${i}`]: `{"name": "${word}"}\n`,
        [`.cache/huggingface/hub/m${i}/snapshots/s/config.json`]: { link: `../../blobs/b${i}` },
      }),
    ],
    [
      "Maildir, base64",
      15,
      (word, i) => ({
        [`Maildir/cur/17000000${10 + i}.M${i}P1.host:2,S`]: mail(
          "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64",
          base64(`Grüße, ${word}\n`),
        ),
      }),
    ],
    [
      "Maildir, quoted-printable, broken in two lines",
      15,
      (word, i) => ({
        [`Maildir/new/18000000${10 + i}.M${i}P1.host`]: mail(
          "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable",
          `Gr=C3=BC=C3=9Fe ${word.slice(0, 6)}=\n${word.slice(6)}`,
        ),
      }),
    ],
    [
      "mailboxes",
      10,
      (word, i) => ({
        [`mail/box${i}.mbox`]: `From a@b Mon Nov  2 10:00:00 2026\nSubject: =?utf-8?b?${base64(word)}?=\n\nx\n`,
      }),
    ],
    ["rotated logs", 15, (word, i) => ({ [`logs/app.log.${i}.gz`]: gzipSync(`x\n${word}\n`) })],
    [
      "rotated logs in Windows-1252",
      5,
      (word, i) => ({ [`logs/alt.log.${i}.gz`]: gzipSync(latin(`Größe ${word} ä\n`)) }),
    ],
    [
      "Windows-1252",
      15,
      (word, i) => ({ [`alt/brief${i}.txt`]: latin(`Grüße aus Köln: ${word}ö\n`) }),
    ],
    [
      "UTF-16",
      10,
      (word, i) => ({ [`alt/export${i}.csv`]: Buffer.from(`\ufeffa;${word}\r\n`, "utf16le") }),
    ],
    [
      "UTF-16 without a mark",
      2,
      (word, i) => ({ [`alt/raw${i}.txt`]: Buffer.from(`a;${word}\r\n`, "utf16le") }),
    ],
    [
      "GBK",
      5,
      (word, i) => ({
        [`alt/gbk${i}.txt`]: Buffer.concat([
          Buffer.from("c4e3bac3cac0bde7a3ac", "hex"),
          latin(`${word}\n`),
        ]),
      }),
    ],
    ["Word documents", 10, (word, i) => ({ [`docs/a${i}.docx`]: docx(paragraph(word)) })],
    [
      "footers and comments of Word documents",
      10,
      (word, i) => ({
        [`docs/b${i}.docx`]: docx(paragraph("x"), {
          [`word/${i % 2 ? "footer1" : "comments"}.xml`]: `<w:x ${WORD}>${paragraph(word)}</w:x>`,
        }),
      }),
    ],
    [
      "workbooks: cells, formulas, errors",
      10,
      (word, i) => ({
        [`docs/c${i}.xlsx`]: sheet(
          i % 2
            ? `<c r="A1" t="inlineStr"><is><t>${word}</t></is></c>`
            : `<c r="A1"><f>SUM(${word})</f></c>`,
        ),
      }),
    ],
    [
      "OpenDocument texts and footers",
      8,
      (word, i) => {
        const texts = ["x", word].map((text) => `<text:p>${text}</text:p>`);
        return { [`docs/d${i}.odt`]: open(texts[i % 2] ?? "", texts[1 - (i % 2)] ?? "") };
      },
    ],
    [
      "notebooks",
      5,
      (word, i) => ({
        [`work/n${i}.ipynb`]: JSON.stringify({
          nbformat: 4,
          cells: [
            {
              cell_type: "code",
              source: ["x"],
              outputs: [{ text: [word.slice(0, 5), word.slice(5)] }],
            },
          ],
        }),
      }),
    ],
    [
      "ignored folders",
      5,
      (word, i) => ({ "work/.gitignore": "build/\n", [`work/build/b${i}.txt`]: `${word}\n` }),
    ],
    [
      "binary files",
      5,
      (word, i) => ({ [`bin/p${i}.dat`]: Buffer.concat([Buffer.alloc(9), latin(word)]) }),
    ],
    ["ZIP archives", 5, (word, i) => ({ [`zip/z${i}.zip`]: zip({ "a.txt": utf8(word) }) })],
    [
      "archives of other kinds",
      5,
      (word, i) => ({
        [`zip/t${i}.tar.gz`]: gzipSync(
          Buffer.concat([latin("a.txt"), Buffer.alloc(507), latin(word)]),
        ),
      }),
    ],
    [
      "folders behind links",
      5,
      (word, i) => ({
        [`../elsewhere/e${i}/a.txt`]: `${word}\n`,
        [`links/e${i}`]: { link: `../../elsewhere/e${i}` },
      }),
    ],
  ];
};

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const top = await mkdtemp(join(tmpdir(), "refmcp-bench-"));
  const home = join(top, "home");
  /** @type {RawClient | undefined} */
  let client;
  try {
    const peer = await peers({ fflate: "0.8.3" });
    const { zipSync } = createRequire(import.meta.url)(peer("fflate"));
    /** @type {{ what: string, words: string[], folder: string }[]} */
    const hidden = [];
    for (const [what, count, hide] of ways(zipSync)) {
      const words = Array.from({ length: count }, (_, i) => `needle${hidden.length}q${i}x`);
      const folder = join(home, String(hidden.length));
      hidden.push({ what, words, folder });
      for (const [i, word] of words.entries())
        for (const [path, content] of Object.entries(hide(word, i))) {
          const file = join(folder, path);
          await mkdir(dirname(file), { recursive: true });
          if (typeof content === "object" && "link" in content) await symlink(content.link, file);
          else await writeFile(file, content);
        }
    }
    client = new RawClient([
      process.execPath,
      join(ROOT, "servers/filesystem/dist/bin.js"),
      home,
      "--journal-dir",
      join(top, "journal"),
    ]);
    await client.initialize();
    const rows = [];
    const sum = { words: 0, found: 0, said: 0, silent: 0 };
    for (const { what, words, folder } of hidden) {
      const count = { words: words.length, found: 0, said: 0, silent: 0 };
      for (const word of words) {
        const { content } = await client.call("search_text", { path: folder, pattern: word });
        const text = content.map((block) => block.text).join("\n");
        if (!text.includes("0 lines in 0 files")) count.found += 1;
        else if (/not (?:searched|followed)|only the names|could not be/.test(text))
          count.said += 1;
        else count.silent += 1;
      }
      for (const key of /** @type {const} */ (["words", "found", "said", "silent"]))
        sum[key] += count[key];
      rows.push([what, ...[count.words, count.found, count.said, count.silent].map(String)]);
    }
    rows.push(["all", ...[sum.words, sum.found, sum.said, sum.silent].map(String)]);
    report({
      title: "Words found by search_text in a home directory",
      columns: [
        "stored in",
        "words",
        "found",
        "not searched, which the answer says",
        "missed silently",
      ],
      rows,
    });
  } finally {
    client?.child.kill();
    await rm(top, { recursive: true, force: true });
  }
  return undefined;
}
