import { extractText, getDocumentProxy } from "unpdf";

const MAX_PAGES = 2_000;

/**
 * Extracts the text of a PDF, with an empty line between pages.
 *
 * @throws the library's error for a damaged or encrypted file.
 */
export async function pdfText(bytes: Uint8Array): Promise<{ text: string; pages: number }> {
  const document = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false });
  if (document.numPages > MAX_PAGES)
    throw new Error(`${document.numPages} pages, of which the first ${MAX_PAGES} are read`);
  const { text } = await extractText(document, { mergePages: false });
  return { text: text.join("\n\n"), pages: document.numPages };
}
