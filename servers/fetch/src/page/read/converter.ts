import { Line } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { OutputOptions } from "../write/writing.ts";
import type { List } from "./feed.ts";
import type { Conversion, ConversionRequest } from "./html.ts";
import type { Metadata } from "./metadata.ts";
import { stripTags } from "./strip-tags.ts";
import { ConversionError, type WorkerOptions, WorkerPool } from "./workers.ts";

/** Pages: converting takes time linear in their size, and a long one does not need much more than a second. */
const PAGES: WorkerOptions = { max: 3, kind: "thread", cpuMs: 5_000, maxMs: 30_000, maxMb: 512 };
/** PDFs and Office documents: no page waits for them. */
export const DOCUMENTS: WorkerOptions = { max: 2, kind: "process", maxMs: 15_000, maxMb: 512 };
/** Longer pages leave one thread free, so that short ones need not wait for them. */
const LONG_CHARS = 300_000;

/** A failed conversion with the reason; the page's plain text is still available. */
interface Unconverted {
  readonly text: string;
  readonly extractor: "tags removed";
  readonly reason: string;
  readonly needsJavascript: false;
}

/** The text of a PDF or an Office document. */
interface DocumentText extends Metadata {
  readonly text: string;
  /** Pages of a PDF. */
  readonly pages?: number;
}

/** Messages to the thread or process. */
export type Work =
  | { readonly html: ConversionRequest }
  | { readonly list: ListRequest }
  | DocumentWork;
/** A feed or sitemap. */
export interface ListRequest {
  readonly text: string;
  /** For relative links. */
  readonly url: string;
  readonly format: "markdown" | "text" | "data";
}
type DocumentWork =
  | { readonly pdf: Uint8Array }
  | { readonly office: Uint8Array; readonly writing: OutputOptions };
export type Done = Conversion | List | DocumentText;

/**
 * Converts pages in threads and documents in processes, with limited memory and time, so that none can block the server,
 * exhaust its memory or hold up the others for long. A page that exceeds a limit is reduced to plain text, in linear time.
 */
export class Converter {
  readonly #pages = new WorkerPool(PAGES);
  readonly #documents = new WorkerPool(DOCUMENTS);
  readonly #long = new Line(PAGES.max - 1);

  /**
   * Converts a page, or returns it as plain text if that fails.
   *
   * @throws the signal's reason.
   */
  async html(request: ConversionRequest, signal: AbortSignal): Promise<Conversion | Unconverted> {
    const convert = () => this.#pages.run<Conversion>({ html: request }, signal);
    try {
      return await (request.html.length > LONG_CHARS
        ? this.#long.run("long", convert, signal)
        : convert());
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const { message: reason } = error;
      return {
        text: stripTags(request.html),
        extractor: "tags removed",
        reason,
        needsJavascript: false,
      };
    }
  }

  /**
   * The items of a feed, or the URLs of a sitemap; the text unchanged if that fails.
   *
   * @throws the signal's reason.
   */
  async list(
    request: ListRequest,
    signal: AbortSignal,
  ): Promise<List & { readonly reason?: string }> {
    try {
      return await this.#pages.run<List>({ list: request }, signal);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      return {
        text: request.text,
        extractor: "unchanged",
        reason: error.message,
        needsJavascript: false,
      };
    }
  }

  /** @throws ToolError `unavailable` if it cannot be read; the signal's reason. */
  async document(work: DocumentWork, signal: AbortSignal): Promise<DocumentText> {
    try {
      return await this.#documents.run<DocumentText>(work, signal);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const what = "pdf" in work ? "PDF" : "document";
      throw new ToolError(
        "unavailable",
        `The ${what} could not be read as text: ${error.message}.`,
        { hint: "Open it in another program." },
      );
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pages.close(), this.#documents.close()]);
  }
}
