import { ToolError } from "@refmcp/boundary/answer";
import type { Conversion, ConversionRequest } from "./extract.ts";
import type { Facts } from "./facts.ts";
import { Failure, Lane, type LaneOptions } from "./lane.ts";
import type { Writing } from "./markdown.ts";
import { Turns } from "./turns.ts";
import { withoutTags } from "./without-tags.ts";

/** Pages: converting takes time linear in their size, and a long one does not need much more than a second. */
const PAGES: LaneOptions = { kind: "thread", budgetMs: 5_000, maxMb: 512 };
/** PDFs and Office documents: no page waits for them. */
const DOCUMENTS: LaneOptions = { kind: "process", budgetMs: 15_000, maxMb: 512 };
const PAGE_LANES = 3;
const DOCUMENT_LANES = 2;
/** Longer pages leave one lane free, so that short ones need not wait for them. */
const LONG_CHARS = 300_000;

/** A failed conversion with the reason; the page's plain text is still available. */
interface GivenUp {
  readonly text: string;
  readonly extractor: "tags removed";
  readonly reason: string;
  readonly needsJavascript: false;
}

/** The text of a PDF or an Office document. */
interface DocumentText extends Facts {
  readonly text: string;
  /** Pages of a PDF. */
  readonly pages?: number;
}

/** Messages to the thread or process. */
export type Work = { readonly html: ConversionRequest } | DocumentWork;
type DocumentWork = { readonly pdf: Uint8Array } | { readonly office: Uint8Array; readonly writing: Writing };
export type Done = Conversion | DocumentText;

/**
 * Converts pages in threads and documents in processes, with limited memory and time, so that none can block the server,
 * exhaust its memory or hold up the others for long. A page that exceeds a limit is reduced to plain text, in linear time.
 */
export class Converter {
  readonly #pages = new Lanes(PAGES, PAGE_LANES);
  readonly #documents = new Lanes(DOCUMENTS, DOCUMENT_LANES);
  readonly #long = new Turns(PAGE_LANES - 1);

  /**
   * Converts a page, or returns it as plain text if that fails.
   *
   * @throws the signal's reason.
   */
  async html(request: ConversionRequest, signal: AbortSignal): Promise<Conversion | GivenUp> {
    const convert = () => this.#pages.run<Conversion>({ html: request }, signal);
    try {
      return await (request.html.length > LONG_CHARS ? this.#long.take("long", signal, convert) : convert());
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { message: reason } = error;
      return { text: withoutTags(request.html), extractor: "tags removed", reason, needsJavascript: false };
    }
  }

  /** @throws ToolError `unavailable` if it cannot be read; the signal's reason. */
  async document(work: DocumentWork, signal: AbortSignal): Promise<DocumentText> {
    try {
      return await this.#documents.run<DocumentText>(work, signal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const what = "pdf" in work ? "PDF" : "document";
      throw new ToolError("unavailable", `The ${what} could not be read as text: ${error.message}.`, {
        hint: "To get its bytes, read the resource that format metadata returns as snapshot, with /raw appended.",
      });
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pages.close(), this.#documents.close()]);
  }
}

/** Up to `max` lanes, started when needed; the last one used is the first to be used again. */
class Lanes {
  readonly #options: LaneOptions;
  readonly #turns: Turns;
  readonly #idle: Lane[] = [];
  readonly #all: Lane[] = [];

  constructor(options: LaneOptions, max: number) {
    this.#options = options;
    this.#turns = new Turns(max);
  }

  /** @throws as `Lane.run`. */
  async run<Result extends Done>(work: Work, signal: AbortSignal): Promise<Result> {
    return await this.#turns.take("", signal, async () => {
      const lane = this.#idle.pop() ?? this.#added();
      try {
        return await lane.run<Result>(work, signal);
      } finally {
        this.#idle.push(lane);
      }
    });
  }

  #added(): Lane {
    const lane = new Lane(this.#options);
    this.#all.push(lane);
    return lane;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((lane) => lane.close()));
  }
}
