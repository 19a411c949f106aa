import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { oneLine, ToolError } from "@refmcp/core/answer";
import { startDeadline } from "@refmcp/core/boundary";
import { workerFile } from "@refmcp/core/worker-file";
import type { Conversion, ConversionRequest } from "./extract.ts";
import type { Facts } from "./facts.ts";
import type { Writing } from "./markdown.ts";
import { withoutTags } from "./without-tags.ts";

interface ConverterOptions {
  /** Time limit of a conversion, in milliseconds. */
  readonly budgetMs: number;
  /** Heap limit of the worker, in megabytes. */
  readonly heapMb: number;
}

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

/** Messages to the thread. */
export type Work = { readonly html: ConversionRequest } | DocumentWork;
type DocumentWork = { readonly pdf: Uint8Array } | { readonly office: Uint8Array; readonly writing: Writing };
export type Done = Conversion | DocumentText;
type Reply<Result> = { readonly done: Result } | { readonly failed: string };

/**
 * Converts pages one at a time in a thread with limited memory and time, so that no page can block the server or
 * exhaust its memory. A page that exceeds a limit is reduced to plain text, in linear time.
 */
export class Converter {
  readonly #options: ConverterOptions;
  #worker: Promise<Worker> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ConverterOptions) {
    this.#options = options;
  }

  /**
   * Converts a page, or returns it as plain text if that fails.
   *
   * @throws the signal's reason.
   */
  async html(request: ConversionRequest, signal: AbortSignal): Promise<Conversion | GivenUp> {
    try {
      return await this.#inTurn<Conversion>({ html: request }, signal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { message: reason } = error;
      return { text: withoutTags(request.html), extractor: "tags removed", reason, needsJavascript: false };
    }
  }

  /** @throws ToolError `unavailable` if it cannot be read; the signal's reason. */
  async document(work: DocumentWork, signal: AbortSignal): Promise<DocumentText> {
    try {
      return await this.#inTurn<DocumentText>(work, signal);
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

  async #inTurn<Result extends Done>(work: Work, signal: AbortSignal): Promise<Result> {
    const turn = this.#last.then(() => this.#run<Result>(work, signal));
    this.#last = turn.catch(() => undefined);
    return await turn;
  }

  async #run<Result>(work: Work, signal: AbortSignal): Promise<Result> {
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
      const reply: Reply<Result> = message;
      if ("done" in reply) return reply.done;
      throw new Failure(`it is too complex (${oneLine(reply.failed.slice(0, 80))})`, true);
    } catch (error) {
      if (error instanceof Failure && error.leavesThread) throw error;
      // The thread is still busy, or has ended.
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

/** Why a conversion failed. */
class Failure extends Error {
  /** Whether the thread can be used again. */
  readonly leavesThread: boolean;

  constructor(reason: string, leavesThread = false) {
    super(reason);
    this.leavesThread = leavesThread;
  }
}
