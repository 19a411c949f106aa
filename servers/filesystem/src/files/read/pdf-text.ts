import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { extractText, getDocumentProxy } from "unpdf";

const MAX_PAGES = 2_000;

/**
 * Extracts the text of a PDF, with an empty line between pages.
 *
 * @throws ToolError `invalid` for a damaged or encrypted file, or one without text; `too_large` beyond 2,000 pages.
 */
export async function pdfText(path: string, bytes: Uint8Array): Promise<{ text: string; pages: number }> {
  const refuse = (what: string, cause?: unknown) =>
    new ToolError("invalid", `The PDF "${oneLine(path)}" ${what}.`, {
      hint: "Ask the user for the text.",
      cause,
    });
  const document = await getDocumentProxy(bytes, { isEvalSupported: false, verbosity: 0 }).catch(
    (error: unknown) => {
      throw refuse("cannot be read: it is damaged or encrypted", error);
    },
  );
  if (document.numPages > MAX_PAGES) throw refuse(`has more than ${MAX_PAGES} pages`);
  const { text } = await extractText(document, { mergePages: false });
  const all = text.map((page) => page.trim()).join("\n\n");
  if (all.trim() === "") throw refuse("contains no text; its pages may be scanned images");
  return { text: `${all}\n`, pages: document.numPages };
}
