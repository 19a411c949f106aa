import { openDocumentFile } from "@refmcp/documents/testing";
import { expect, it } from "vitest";
import { officeFile } from "./files.ts";
import { fetched, site, webOf } from "./lab.ts";

const WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const word = officeFile("word/document.xml", "wordprocessingml.document", {
  "word/document.xml": `<w:document xmlns:w="${WORD}"><w:body><w:p><w:r><w:t>Bread &amp; flour</w:t></w:r></w:p></w:body></w:document>`,
});

it("a document is read by its bytes; a damaged or protected one is refused with an explanation", async () => {
  const read = async (body: Buffer, args = {}) => {
    const headers = { "content-type": "application/octet-stream" };
    const lab = await site({ "/file": { headers, body } });
    return (await fetched(await webOf([lab]), { url: `${lab.origin}/file`, ...args })).text;
  };
  expect(await read(word)).toMatch(/wordprocessingml\.document.*\]\n\nBread & flour$/);
  await expect(read(word, { selector: "p" })).rejects.toThrow("selector only works on HTML");
  await expect(read(word.subarray(0, -40))).rejects.toThrow(/could not be read as text|no text/);
  const locked = openDocumentFile("text", "<text:p>x</text:p>", "<manifest:encryption-data/>");
  await expect(read(locked)).rejects.toThrow("it is password-protected");
});
