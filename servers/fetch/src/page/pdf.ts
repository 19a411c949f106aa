import { extractText, getDocumentProxy } from "unpdf";

export interface PdfRequest {
  readonly bytes: Uint8Array;
}

export interface PdfText {
  /** The pages' text, an empty line between two. */
  readonly text: string;
  readonly pages: number;
}

const MOST_PAGES = 2_000;

/** The text of a PDF, page by page. @throws what the library throws for a damaged or encrypted file. */
export async function pdfText({ bytes }: PdfRequest): Promise<PdfText> {
  const document = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false });
  if (document.numPages > MOST_PAGES) throw new Error(`${document.numPages} pages; ${MOST_PAGES} are read`);
  const { text } = await extractText(document, { mergePages: false });
  return { text: text.join("\n\n"), pages: document.numPages };
}
