import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { oneLine, ToolError } from "@refmcp/core/answer";
import { startDeadline } from "@refmcp/core/boundary";
import { workerFile } from "@refmcp/core/worker-file";
import type { Conversion, ConversionRequest } from "./extract.ts";
import type { Facts } from "./facts.ts";
import type { Writing } from "./markdown.ts";
import { withoutTags } from "./without-tags.ts";

export interface ConverterOptions {
  /** Milliseconds of one conversion. */
  readonly budgetMs: number;
  /** Megabytes of the worker's heap. */
  readonly heapMb: number;
}

/** A conversion that was given up, and why: the page is still readable as plain text. */
export interface GivenUp {
  readonly text: string;
  readonly extractor: "tags removed";
  readonly reason: string;
  readonly needsJavascript: false;
}

/** The text of a file that is not a page. */
export interface DocumentText extends Facts {
  readonly text: string;
  /** Pages of a PDF. */
  readonly pages?: number;
}

/** What the thread is asked, and what it answers. */
export type Work = { readonly html: ConversionRequest } | DocumentWork;
export type DocumentWork =
  | { readonly pdf: Uint8Array }
  | { readonly office: Uint8Array; readonly writing: Writing };
export type Done = { readonly conversion: Conversion } | { readonly document: DocumentText };
type Reply = Done | { readonly failed: string };

/**
 * Converts pages in a thread with a limit of its memory and time, one after another: no page can hold up the server or
 * fill its memory. What does not end or does not fit is read without any structure, in time that grows with its size only.
 */
export class Converter {
  readonly #options: ConverterOptions;
  #worker: Promise<Worker> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ConverterOptions) {
    this.#options = options;
  }

  /**
   * A page that cannot be converted comes back as plain text.
   *
   * @throws the signal's reason.
   */
  async html(request: ConversionRequest, signal: AbortSignal): Promise<Conversion | GivenUp> {
    try {
      const done = await this.#inTurn({ html: request }, signal);
      if ("conversion" in done) return done.conversion;
      throw new Failure("unexpected kind of reply");
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { message: reason } = error;
      return { text: withoutTags(request.html), extractor: "tags removed", reason, needsJavascript: false };
    }
  }

  /** @throws ToolError `unavailable` for what cannot be read; the signal's reason. */
  async document(work: DocumentWork, signal: AbortSignal): Promise<DocumentText> {
    try {
      const done = await this.#inTurn(work, signal);
      if ("document" in done) return done.document;
      throw new Failure("unexpected kind of reply");
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const what = "pdf" in work ? "PDF" : "document";
      throw new ToolError("unavailable", `The ${what} could not be read as text: ${error.message}.`, {
        hint: "To get its bytes, read the resource that format metadata returns as snapshot, with /raw appended.",
      });
    }
  }

  async close(): Promise<void> {
    const worker = await this.#worker?.catch(() => undefined);
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #inTurn(work: Work, signal: AbortSignal): Promise<Done> {
    const turn = this.#last.then(() => this.#run(work, signal));
    this.#last = turn.catch(() => undefined);
    return await turn;
  }

  async #run(work: Work, signal: AbortSignal): Promise<Done> {
    signal.throwIfAborted();
    this.#worker ??= this.#start();
    const worker = await this.#worker;
    const { budgetMs, heapMb } = this.#options;
    const late = () => new Failure(`converting it took more than ${budgetMs / 1000} s`);
    const deadline = startDeadline(budgetMs, signal, late);
    const listening = { signal: deadline.signal };
    const tooLarge = () => new Failure(`it needed more than ${heapMb} MB`);
    worker.ref();
    try {
      worker.postMessage(work);
      const [message] = await Promise.race([
        once(worker, "message", listening),
        once(worker, "exit", listening).then(() => {
          throw tooLarge();
        }),
      ]);
      const reply: Reply = message;
      if (!("failed" in reply)) return reply;
      throw new Failure(`it is too complex (${oneLine(reply.failed.slice(0, 80))})`, true);
    } catch (error) {
      if (error instanceof Failure && error.leavesThread) throw error;
      // The thread still works on it, or is gone.
      await this.close();
      deadline.signal.throwIfAborted();
      throw tooLarge();
    } finally {
      deadline.abort();
      worker.unref();
    }
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(workerFile("convert", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb },
      stdout: true,
      stderr: true,
    });
    worker.on("error", () => undefined);
    worker.on("exit", () => {
      this.#worker = undefined;
    });
    worker.unref();
    return worker;
  }
}

/** Why a conversion was given up. */
class Failure extends Error {
  /** Whether the thread is as good as before. */
  readonly leavesThread: boolean;

  constructor(reason: string, leavesThread = false) {
    super(reason);
    this.leavesThread = leavesThread;
  }
}
