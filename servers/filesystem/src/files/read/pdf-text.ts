import { extractText, getDocumentProxy } from "unpdf";
import { failure, named } from "../messages.ts";

const MAX_PAGES = 2_000;

/**
 * Extracts the text of a PDF, with an empty line between pages.
 *
 * @throws ToolError `invalid` for a damaged or encrypted file, one without text, or beyond 2,000 pages.
 */
export async function pdfText({ path, bytes }: { path: string; bytes: Uint8Array }) {
  const refuse = (what: string, cause?: unknown) =>
    failure("bad_pdf", `The PDF ${named(path)} ${what}.`, { cause });
  const options = { isEvalSupported: false, verbosity: 0 };
  const document = await getDocumentProxy(bytes, options).catch((error: unknown) => {
    throw refuse("cannot be read: it is damaged or encrypted", error);
  });
  if (document.numPages > MAX_PAGES) throw refuse(`has more than ${MAX_PAGES} pages`);
  const { text } = await extractText(document, { mergePages: false });
  const all = text.map((page) => page.trim()).join("\n\n");
  if (all.trim() === "") throw refuse("contains no text; its pages may be scanned images");
  return { text: `${all}\n`, pages: document.numPages };
}
