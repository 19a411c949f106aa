/**
 * What converts pages and documents in processes, with limited memory and time, so that none can block the server, exhaust its
 * memory or hold up the others for long.
 */
import { Line } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { List, ListRequest } from "../convert/feed.ts";
import type { Conversion, ConversionRequest } from "../convert/html.ts";
import type { Metadata } from "../convert/metadata.ts";
import { stripTags } from "../convert/strip-tags.ts";
import type { OutputOptions } from "../write/writing.ts";
import { ConversionError, type WorkerLimits, WorkerPool } from "./workers.ts";

/** Pages: converting takes time linear in their size, and a long one does not need much more than a second. */
const PAGES: WorkerLimits = { max: 3, maxMs: 20_000, maxMb: 512, isKept: true };
/** PDFs and Office documents: no page waits for them. */
export const DOCUMENTS: WorkerLimits = { max: 2, maxMs: 30_000, maxMb: 512, isKept: false };
/** Longer pages leave one process free, so that short ones need not wait for them. */
const LONG_CHARS = 300_000;

/** The text of a PDF or an Office document. */
interface DocumentText extends Metadata {
  readonly text: string;
  /** Pages of a PDF. */
  readonly pages?: number;
}

/** Messages to a process, and its replies. */
export type Work =
  | { readonly html: ConversionRequest }
  | { readonly list: ListRequest }
  | DocumentWork;
type DocumentWork =
  | { readonly pdf: Uint8Array }
  | { readonly office: Uint8Array; readonly writing: OutputOptions };
export type Done = Conversion | List | DocumentText;

/** A result, or what is left of it if the conversion failed, with the reason. */
type OrReason<Result> = Result & { readonly reason?: string };

export class Converter {
  readonly #pages = new WorkerPool<Work, Done>(PAGES);
  readonly #documents = new WorkerPool<Work, Done>(DOCUMENTS);
  readonly #long = new Line(PAGES.max - 1);

  /** Converts a page, or removes its tags, in linear time, if that fails. @throws the signal's reason. */
  async html(request: ConversionRequest, signal: AbortSignal): Promise<OrReason<Conversion>> {
    const convert = () => this.#pages.run<Conversion>({ html: request }, signal);
    const isLong = request.html.length > LONG_CHARS;
    return await orElse(isLong ? this.#long.run("", convert, signal) : convert(), (reason) => {
      const text = stripTags(request.html);
      return { text, extractor: "tags removed", needsJavascript: false, reason };
    });
  }

  /** The items of a feed, or the URLs of a sitemap; the text unchanged if that fails. @throws the signal's reason. */
  async list(request: ListRequest, signal: AbortSignal): Promise<OrReason<List>> {
    return await orElse(this.#pages.run<List>({ list: request }, signal), (reason) => {
      return { text: request.text, extractor: "unchanged", needsJavascript: false, reason };
    });
  }

  /** @throws ToolError `unavailable` if it cannot be read; the signal's reason. */
  async document(work: DocumentWork, signal: AbortSignal): Promise<DocumentText> {
    return await orElse(this.#documents.run<DocumentText>(work, signal), (reason) => {
      const what = "pdf" in work ? "PDF" : "document";
      const message = `The ${what} could not be read as text: ${reason}.`;
      throw new ToolError("unavailable", message, { hint: "Open it in another program." });
    });
  }

  close(): void {
    this.#pages.close();
    this.#documents.close();
  }
}

/** The result of a conversion, or something else if it failed. */
async function orElse<Result, Other>(
  converted: Promise<Result>,
  other: (reason: string) => Other,
): Promise<Result | Other> {
  try {
    return await converted;
  } catch (error) {
    if (error instanceof ConversionError) return other(error.message);
    throw error;
  }
}
