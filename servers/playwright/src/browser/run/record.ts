import { clip } from "@refmcp/core/answer";
import type { BrowserContext, ConsoleMessage, Page, Request, Response } from "playwright";

/** One message of a page's console. */
export interface ConsoleLine {
  readonly level: "error" | "warning" | "info";
  readonly text: string;
  /** `http://localhost/app.js:12`, where the browser says it. */
  readonly place: string | undefined;
}

export interface RequestLine {
  readonly url: string;
  readonly method: string;
  /** 0 until an answer came. */
  status: number;
  failure: string | undefined;
}

const MOST_LINES = 300;
const MOST_REQUESTS = 5_000;
const MOST_POPUPS = 4;
const MOST_DIALOGS = 50;
const LINE_CHARS = 1_000;
const URL_CHARS = 4_000;

/** How a dialog that a step announced is answered; others are dismissed. */
export interface DialogAnswer {
  readonly accept: boolean;
  readonly text: string | undefined;
}

/**
 * What happens in a page while a run watches it: console, errors, requests, dialogs, popups. Everything is bounded,
 * since a page can make as much of it as it likes.
 */
export class PageRecord {
  readonly console: ConsoleLine[] = [];
  readonly pageErrors: string[] = [];
  readonly requests: RequestLine[] = [];
  readonly dialogs: string[] = [];
  readonly notes = new Set<string>();
  readonly counts = { errors: 0, warnings: 0, pageErrors: 0, requests: 0 };
  /** Answers that steps announced for the next dialogs. */
  readonly answers: DialogAnswer[] = [];
  /** The newest response to a navigation of the main frame. */
  navigation: Response | undefined;
  /** The URL that the main frame was last asked to go to, redirects included. */
  wanted: string | undefined;
  /** Resolves when the page's process has crashed. */
  readonly crashed: Promise<void>;
  /** What the main frame was led to that is no web page: `file:///…`. */
  forbidden: string | undefined;
  readonly #inFlight = new Set<Request>();
  readonly #finished: Request[] = [];
  #activity = 0;
  readonly #lines = new WeakMap<Request, RequestLine>();
  #popups = 0;

  /** @param refusal why the network boundary did not let a request through, where it did not. */
  constructor(context: BrowserContext, page: Page, refusal: (url: URL) => string | undefined) {
    this.crashed = new Promise((resolve) => page.on("crash", () => resolve()));
    context.on("console", (message) => this.#onConsole(message));
    context.on("weberror", (error) => {
      this.counts.pageErrors += 1;
      const thrown = error.error();
      const frame = /^\s+at (.*)$/m.exec((thrown instanceof Error && thrown.stack) || "")?.[1];
      const at = frame === undefined ? "" : ` at ${clip(frame, URL_CHARS / 10)}`;
      const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}${at}` : String(thrown);
      if (this.pageErrors.length < MOST_LINES) this.pageErrors.push(clip(text, LINE_CHARS));
    });
    context.on("request", (request) => this.#onRequest(page, request));
    context.on("response", (response) => this.#onResponse(page, response));
    context.on("requestfinished", (request) => {
      if (this.#finished.length < MOST_REQUESTS) this.#finished.push(request);
      this.#onDone(request);
    });
    context.on("requestfailed", (request) => {
      const line = this.#lines.get(request);
      const failure = request.failure()?.errorText ?? "failed";
      const wasCut = /ERR_ABORTED/.test(failure) || !URL.canParse(request.url());
      if (line !== undefined)
        line.failure = (wasCut ? undefined : refusal(new URL(request.url()))) ?? failure;
      this.#onDone(request);
    });
    context.on("dialog", (dialog) => {
      const answer = this.answers.shift();
      if (this.dialogs.length < MOST_DIALOGS)
        this.dialogs.push(clip(`${dialog.type()}: ${dialog.message()}`, LINE_CHARS));
      const accepted = answer?.accept ?? dialog.type() === "beforeunload";
      (accepted ? dialog.accept(answer?.text) : dialog.dismiss()).catch(() => undefined);
    });
    context.on("page", (popup) => {
      if (popup === page) return;
      this.#activity += 1;
      this.#popups += 1;
      if (this.#popups <= MOST_POPUPS) return;
      this.notes.add(`more than ${MOST_POPUPS} popups; the rest was closed`);
      popup.close().catch(() => undefined);
    });
    page.on("frameattached", () => {
      this.#activity += 1;
    });
    page.on("framenavigated", (frame) => {
      this.#activity += 1;
      if (frame === page.mainFrame() && !/^(?:https?:|about:|chrome-error:)/i.test(frame.url()))
        this.forbidden = clip(frame.url(), 200);
    });
  }

  /** Requests on their way. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Grows with every request that begins or ends and every document that appears: while it stays, nothing happens. */
  get activity(): number {
    return this.#activity;
  }

  /** Bytes that all answers up to now cost on the wire, headers included. */
  async weight(): Promise<number> {
    const sizes = await Promise.all(this.#finished.map((request) => request.sizes().catch(() => undefined)));
    return sizes.reduce(
      (sum, one) => sum + (one === undefined ? 0 : one.responseBodySize + one.responseHeadersSize),
      0,
    );
  }

  #onConsole(message: ConsoleMessage): void {
    const type = message.type();
    const level = type === "error" || type === "assert" ? "error" : type === "warning" ? "warning" : "info";
    // Browsers ask for /favicon.ico by themselves; no page is wrong for not having one.
    if (level === "error" && /\/favicon\.ico(?:[?#]|$)/.test(message.location().url)) return;
    if (level === "error") this.counts.errors += 1;
    if (level === "warning") this.counts.warnings += 1;
    const { url, lineNumber } = message.location();
    const place = url === "" ? undefined : `${clip(url, URL_CHARS / 10)}:${lineNumber + 1}`;
    const line = { level, text: clip(message.text(), LINE_CHARS), place } as const;
    // Errors are kept when a flood of other messages has filled the list.
    if (this.console.length < MOST_LINES || (level === "error" && this.counts.errors <= MOST_LINES))
      this.console.push(line);
    else this.notes.add("the console was flooded; the rest was dropped");
  }

  #onRequest(page: Page, request: Request): void {
    if (isOfMainFrame(page, request)) this.wanted = request.url();
    this.counts.requests += 1;
    this.#activity += 1;
    this.#inFlight.add(request);
    const line: RequestLine = {
      url: clip(request.url(), URL_CHARS),
      method: request.method(),
      status: 0,
      failure: undefined,
    };
    this.#lines.set(request, line);
    if (this.requests.length < MOST_REQUESTS) this.requests.push(line);
    else this.notes.add(`more than ${MOST_REQUESTS} requests; the rest was not looked at`);
  }

  #onResponse(page: Page, response: Response): void {
    const line = this.#lines.get(response.request());
    if (line !== undefined) line.status = response.status();
    if (isOfMainFrame(page, response.request())) this.navigation = response;
  }

  #onDone(request: Request): void {
    this.#inFlight.delete(request);
    this.#activity += 1;
  }
}

function isOfMainFrame(page: Page, request: Request): boolean {
  if (!request.isNavigationRequest()) return false;
  try {
    return request.frame() === page.mainFrame();
  } catch {
    // A service worker's request has no frame.
    return false;
  }
}

/** Whether a request went wrong; a page's missing favicon and what a navigation cut off did not. */
export function isFailed({ url, status, failure }: RequestLine): boolean {
  if (/\/favicon\.ico(?:[?#]|$)/.test(url)) return false;
  return failure === undefined ? status >= 400 : !/ERR_ABORTED/.test(failure);
}
