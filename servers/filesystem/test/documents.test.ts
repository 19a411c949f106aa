import { open, rm, truncate } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { docx, docxOf, epub, pdf, pdfOf, pptx, xlsx, zip } from "@refmcp/documents/testing";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { isLong } from "../../../vitest.long.ts";
import { withFile } from "../src/files/open-path.ts";
import { Documents } from "../src/files/read/documents.ts";
import { Threads } from "../src/files/threads/thread-pool.ts";
import readMultipleFiles from "../src/tools/read-multiple-files.ts";
import readTextFile from "../src/tools/read-text-file.ts";
import searchText from "../src/tools/search-text.ts";
import { openScratch } from "./scratch.ts";
import { makeTree } from "./tree.ts";
import { texts, use } from "./use.ts";

/** One directory for all tests, since a thread that converts documents takes a second to start. */
let shared: Awaited<ReturnType<typeof openScratch>>;
beforeAll(async () => {
  shared = await openScratch();
});
afterAll(async () => {
  await shared.files.close();
  await shared.dispose();
});

/** The directory with a server's operations on it, empty. */
async function folder() {
  for (const name of await shared.list()) await rm(shared.at(name), { recursive: true });
  return shared;
}

it("reads documents by lines", async () => {
  const { files, put } = await folder();
  await put("book.xlsx", xlsx({ Sales: { A1: "Region", B2: 5 }, Costs: { A1: "none" } }));
  const read = async (args: Partial<Parameters<typeof readTextFile.run>[0]>) =>
    texts(await use(readTextFile, files, { path: "book.xlsx", ...args }));
  const [text, facts] = await read({});
  expect(text).toContain('=== Excel workbook, 2 sheets: "Sales", "Costs"\n');
  expect(facts).toMatch(/^\[All 8 lines\. File: [\d.]+ \w+, converted to text, hash \w{16}\.\]$/);
  expect((await read({ offset: 4, limit: 1 }))[0]).toBe("1\tRegion\n");
  expect((await read({ tail: 1 }))[0]).toBe("1\tnone\n");
});

it("reads several documents at once, and the bytes of mail as text with an encoding", async () => {
  const { files, put } = await folder();
  await put("a.docx", docx("Hello"));
  await put("b.eml", "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\nBody\n");
  await put("c.docx", "not a document");
  const answer = String(
    await use(readMultipleFiles, files, { paths: ["a.docx", "b.eml", "c.docx"] }),
  );
  expect(answer).toContain("=== Word document\nHello\n");
  expect(answer).toContain("Subject: Grüße");
  expect(answer).toContain("not a document");
  const raw = await files.readText("b.eml", { maxChars: 1_000, encoding: "utf-8" });
  expect(raw.text).toContain("=?utf-8?q?");
});

it("reads text formats that cannot be converted unchanged, and PDFs with any name", async () => {
  const { files, put } = await folder();
  const broken = await put("a.ipynb", '{"cells": broken');
  expect((await files.readText(broken, { maxChars: 100 })).text).toBe('{"cells": broken');
  const large = await put("a.eml", "Subject: x\n\nbody\n");
  await truncate(large, 65 * 1024 * 1024);
  const handle = await open(large, "r+");
  await handle.write(Buffer.alloc(65 * 1024 * 1024, "x\n"), 0, undefined, 17);
  await handle.close();
  expect((await files.readText(large, { maxChars: 100, limit: 1 })).text).toBe("Subject: x\n");
  const named = await put("download", pdf(["The page"]));
  expect((await files.readText(named, { maxChars: 100 })).text).toContain("The page");
});

it("explains why a document cannot be read, and keeps working after a bomb", async () => {
  const { files, put } = await folder();
  const read = (path: string) => files.readText(path, { maxChars: 1_000 });
  const bombs = {
    "deep.docx": docxOf("<w:p>".repeat(100_000)),
    "cells.xlsx": xlsx({ S: { A1: "x", XFD1048576: "y" } }),
    "locked.docx": Buffer.concat([
      Buffer.from("d0cf11e0a1b11ae1", "hex"),
      Buffer.alloc(600),
      Buffer.from("EncryptedPackage", "utf16le"),
    ]),
    // packages/documents has it, too.
    ...(isLong ? { "zeros.docx": zip({ "word/document.xml": "0".repeat(101_000_000) }) } : {}),
  };
  for (const [name, bytes] of Object.entries(bombs)) {
    await put(name, bytes);
    await expect(read(name)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(new RegExp(`${name}" cannot be read: (?:its|it is) .*\\.$`)),
    });
  }
  await put("fine.docx", docx("Hello"));
  expect((await read("fine.docx")).text).toContain("Hello");
  // A search reports them, and finds the rest.
  const names = Object.keys(bombs).sort();
  const answer = String(await use(searchText, files, { pattern: "Hello" }));
  expect(answer.startsWith("fine.docx\n2:Hello\n[1 line in 1 file. ")).toBe(true);
  expect(answer).toContain(
    `1 file. ${names.length} documents could not be read; read_text_file says why: ${names.join(", ")}. Paths`,
  );
});

it("stops a PDF whose streams need too much memory, and converts the next one", async () => {
  const stream = deflateSync(Buffer.alloc(200_000_000, " "), { level: 1 }).toString("latin1");
  const bomb = pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
    `<< /Length ${stream.length} /Filter /FlateDecode >>\nstream\n${stream}\nendstream`,
  ]);
  const tree = await makeTree({ "bomb.pdf": bomb, "fine.pdf": pdf(["Fine"]) });
  const threads = new Threads(64);
  onTestFinished(() => threads.close());
  const documents = new Documents(threads);
  const convert = (name: string) =>
    withFile(tree.guard, tree.at(name), (file) => documents.textOf(file));
  await expect(convert("bomb.pdf")).rejects.toThrow("it needs more than 64 MiB of memory");
  expect((await convert("fine.pdf"))?.text).toContain("Fine");
});

it("finds text in documents, and names the page, sheet or slide", async () => {
  const { files, put } = await folder();
  await put("a.pdf", pdf(["First needle", "Second", "Third needle"]));
  await put("b.xlsx", xlsx({ Sales: { A1: "x" }, "Q1 plan": { C7: "the needle" } }));
  await put("c.pptx", pptx("nothing", "a needle"));
  await put("d.epub", epub("Book", "<h1>One</h1><p>x</p>", "<h1>Two</h1><p>a needle in hay</p>"));
  await put("e.txt", "needle\n");
  const search = (args: Partial<Parameters<typeof searchText.run>[0]>) =>
    use(searchText, files, { pattern: "needle", ...args });
  const matches = [
    "a.pdf",
    "3 (page 1):First needle",
    "7 (page 3):Third needle",
    "b.xlsx",
    '7 (sheet "Q1 plan"):7\tthe needle',
    "c.pptx",
    "5 (slide 2):a needle",
    "d.epub",
    "9 (chapter 2: Two):a needle in hay",
    "e.txt",
    "1:needle",
  ].join("\n");
  expect(await search({})).toContain(`${matches}\n[6 lines in 5 files.`);
  expect(await search({ path: "a.pdf" })).toContain("7 (page 3):Third needle\n[2 lines in 1 file.");
  expect(await search({ mode: "counts" })).toContain("2 a.pdf\n");
  expect(await search({ glob: "*.pptx", context: 1 })).toContain("5 (slide 2):a needle");
  // The lines that only name the parts are not found.
  expect(await search({ pattern: "^=== |page 1|chapter" })).toContain("[0 lines in 0 files.");
});

it("leaves documents for the next search when the time for converting them is used up", async () => {
  const { files, put } = await folder();
  await put("a.docx", docx("needle"));
  await put("b.docx", docx("needle"));
  const search = async (documentsMs: number) => {
    const request = {
      pattern: "needle",
      path: ".",
      literal: true,
      ignore_case: false,
      include_ignored: false,
    };
    const page = { mode: "files" as const, context: 0, limit: 10, budget: 20_000 };
    const { total_files, notes } = await files.searchText({ ...request, ...page, documentsMs });
    return { total_files, notes };
  };
  const note = "2 documents not searched yet; repeat the call to continue: a.docx, b.docx.";
  expect(await search(0)).toEqual({ total_files: 0, notes: [note] });
  expect(await search(60_000)).toEqual({ total_files: 2, notes: undefined });
  // Those in memory need no time.
  expect(await search(0)).toEqual({ total_files: 2, notes: undefined });
});
