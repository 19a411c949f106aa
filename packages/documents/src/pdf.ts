import { extractText, getDocumentProxy } from "unpdf";
import { DocumentError } from "./document.ts";

const MAX_PAGES = 2_000;

/**
 * Extracts the text of each page of a PDF.
 *
 * @throws DocumentError for one that is encrypted, damaged or longer than 2,000 pages.
 */
export async function pdfPages(bytes: Uint8Array): Promise<string[]> {
  // The library takes the memory of the array it gets, which must therefore be a copy, and not a Buffer.
  const options = { isEvalSupported: false, verbosity: 0 };
  const document = await getDocumentProxy(new Uint8Array(bytes), options).catch(
    (error: unknown) => {
      const isLocked = error instanceof Error && error.name === "PasswordException";
      throw new DocumentError(isLocked ? "it is password-protected" : "it is damaged", {
        cause: error,
      });
    },
  );
  if (document.numPages > MAX_PAGES)
    throw new DocumentError(`it has ${document.numPages} pages; at most ${MAX_PAGES} are read`);
  const { text } = await extractText(document, { mergePages: false });
  return text;
}
