import { clip, oneLine } from "@refmcp/boundary/answer";
import type { BrowserContext, ConsoleMessage, Page, Request, Response, WebError } from "playwright";
import type { Downloads } from "./downloads.ts";

export interface RequestLine {
  readonly url: string;
  readonly method: string;
  /** 0 until there is a response. */
  status: number;
  failure: string | undefined;
  /** For its body and the response's body. */
  readonly request: Request;
}

interface ConsoleLine {
  readonly level: "error" | "warning" | "info";
  readonly text: string;
  readonly url: string;
  /** From 1. */
  readonly line: number;
}

const MAX_LINES = 300;
const MAX_REQUESTS = 5_000;
const MAX_POPUPS = 4;
const MAX_DIALOGS = 50;
const LINE_CHARS = 1_000;
const URL_CHARS = 4_000;
/** How long a request counts as in progress; one by a script; and a stream after its headers. */
const OPEN_MS = 2_000;
export const DATA_MS = 5_000;
const STREAM_MS = 200;

/**
 * Records a page's events during a run: console, errors, requests, dialogs, popups. Everything is bounded, because a
 * page can produce any amount.
 */
export class PageEvents {
  readonly console: ConsoleLine[] = [];
  readonly pageErrors: string[] = [];
  readonly requests: RequestLine[] = [];
  readonly dialogs: { readonly type: string; readonly message: string }[] = [];
  readonly notes = new Set<string>();
  readonly counts = { errors: 0, pageErrors: 0, requests: 0 };
  /** Replies that steps prepared for the next dialogs; undefined dismisses, as without any. */
  readonly answers: ({ readonly text: string | undefined } | undefined)[] = [];
  readonly tabs: Tabs;
  downloads: Downloads | undefined;
  /** Resolves when the page's process has crashed. */
  readonly crashed: Promise<void>;
  /** Increases when a request starts or ends or a document appears; unchanged while nothing happens. */
  activity = 0;
  /** Open requests, and until when each counts as in progress. */
  readonly #open = new Map<Request, number>();
  readonly #lines = new WeakMap<Request, RequestLine>();
  #popups = 0;
  /** How much of each list earlier answers contained. */
  #answered = { console: 0, pageErrors: 0, dialogs: 0, errors: 0 };
  readonly #refusal: (url: URL) => string | undefined;
  readonly #see: (text: string) => string;

  /**
   * @param refusal why the network boundary blocked a request, if it did.
   * @param see removes secrets; before a text is cut, which would leave the beginning of one.
   */
  constructor(
    context: BrowserContext,
    page: Page,
    refusal: (url: URL) => string | undefined,
    see: (text: string) => string,
  ) {
    this.#refusal = refusal;
    this.#see = see;
    this.tabs = new Tabs(context, page);
    this.crashed = new Promise((resolve) => {
      const watch = (tab: Page) => {
        tab.on("crash", () => (tab === this.page ? resolve() : undefined));
        this.#watch(tab);
      };
      watch(page);
      context.on("page", watch);
    });
    context.on("console", (message) => this.#onConsole(message));
    context.on("weberror", (error) => this.#onError(error));
    context.on("request", (request) => this.#onRequest(request));
    context.on("response", (response) => this.#onResponse(response));
    context.on("requestfinished", (request) => this.#onDone(request));
    context.on("requestfailed", (request) => {
      this.#onFailed(request);
      this.#onDone(request);
    });
    context.on("dialog", (dialog) => {
      const answer = this.answers.shift();
      if (hasRoom(this.dialogs, this.#answered.dialogs, MAX_DIALOGS))
        this.dialogs.push({ type: dialog.type(), message: this.#short(dialog.message()) });
      const accepted = answer !== undefined || dialog.type() === "beforeunload";
      (accepted ? dialog.accept(answer?.text) : dialog.dismiss()).catch(() => undefined);
    });
    context.on("page", (popup) => {
      this.activity += 1;
      this.#popups += 1;
      if (this.#popups <= MAX_POPUPS) return;
      this.notes.add(`more than ${MAX_POPUPS} popups; the rest were closed`);
      popup.close().catch(() => undefined);
    });
  }

  get page(): Page {
    return this.tabs.current;
  }

  get place(): Place {
    return this.tabs.place(this.page);
  }

  /** Warnings, console errors and uncaught errors since the last answer. */
  problems(): string[] {
    const logged = this.console
      .slice(this.#answered.console)
      .filter(({ level }) => level !== "info")
      .map((line) => `${line.level}: ${oneLine(this.said(line)).slice(0, 300)}`);
    const thrown = this.pageErrors
      .slice(this.#answered.pageErrors)
      .map((text) => `uncaught ${oneLine(text).slice(0, 200)}`);
    return [...thrown, ...logged].slice(0, 8);
  }

  /** A console line for messages, with the resource that failed and why it did. */
  said({ text, url }: ConsoleLine): string {
    if (!text.startsWith("Failed to load resource") || !URL.canParse(url)) return text;
    const reason = this.#refusal(new URL(url));
    return `${text} (${url}${reason === undefined ? "" : `, ${reason}`})`;
  }

  /** The dialogs since the last answer. */
  get newDialogs(): PageEvents["dialogs"] {
    return this.dialogs.slice(this.#answered.dialogs);
  }

  /** Begins a new answer; checks still see everything that was recorded. */
  answered(): void {
    const { console, pageErrors, dialogs, counts } = this;
    this.#answered = {
      ...{ console: console.length, pageErrors: pageErrors.length, dialogs: dialogs.length },
      errors: counts.errors,
    };
    this.notes.clear();
    this.#popups = 0;
  }

  /** Requests in progress, without those that stay open. */
  get inFlight(): number {
    const now = performance.now();
    return [...this.#open.values()].filter((until) => now < until).length;
  }

  /** Requests without a response so far. */
  get unanswered(): RequestLine[] {
    const open = [...this.#open.keys()];
    return open.flatMap((one) => this.#lines.get(one) ?? []).filter(({ status }) => status === 0);
  }

  /** A text without secrets, of limited length. */
  #short(text: string, chars = LINE_CHARS): string {
    return clip(this.#see(text.slice(0, 10 * chars)), chars);
  }

  #watch(page: Page): void {
    page.on("frameattached", () => {
      this.activity += 1;
    });
    page.on("framenavigated", () => {
      this.activity += 1;
    });
  }

  #onConsole(message: ConsoleMessage): void {
    const { url, lineNumber } = message.location();
    const type = message.type().replace("assert", "error");
    const level = type === "error" || type === "warning" ? type : "info";
    // Browsers request /favicon.ico by themselves; a missing one is not an error of the page.
    if (level === "error" && isFavicon(url)) return;
    if (level === "error") this.counts.errors += 1;
    // Errors are kept even if other messages have filled the list.
    const { console: before, errors } = this.#answered;
    const isKept = level === "error" && this.counts.errors - errors <= MAX_LINES;
    if (!hasRoom(this.console, before, isKept ? 2 * MAX_LINES : MAX_LINES)) {
      this.notes.add("too many console messages; the rest were dropped");
      return;
    }
    const text = this.#short(message.text());
    this.console.push({ level, text, url: this.#short(url, URL_CHARS / 10), line: lineNumber + 1 });
  }

  #onError(error: WebError): void {
    this.counts.pageErrors += 1;
    if (!hasRoom(this.pageErrors, this.#answered.pageErrors, MAX_LINES)) return;
    const thrown = error.error();
    const frame = /^\s+at (.*)$/m.exec((thrown instanceof Error && thrown.stack) || "")?.[1];
    const at = frame === undefined ? "" : ` at ${clip(frame, URL_CHARS / 10)}`;
    const text =
      thrown instanceof Error ? `${thrown.name}: ${thrown.message}${at}` : String(thrown);
    this.pageErrors.push(this.#short(text));
  }

  #onRequest(request: Request): void {
    const page = navigatedBy(request);
    if (page !== undefined) this.tabs.place(page).wanted = request.url();
    this.counts.requests += 1;
    this.activity += 1;
    const isStream = request.resourceType() === "eventsource";
    const openMs = isData(request) ? DATA_MS : OPEN_MS;
    this.#open.set(request, isStream ? 0 : performance.now() + openMs);
    const line: RequestLine = {
      ...{ url: this.#short(request.url(), URL_CHARS), method: request.method() },
      ...{ status: 0, failure: undefined, request },
    };
    this.#lines.set(request, line);
    if (this.requests.length < MAX_REQUESTS) this.requests.push(line);
    else this.notes.add(`more than ${MAX_REQUESTS} requests; the rest were not checked`);
  }

  #onResponse(response: Response): void {
    const request = response.request();
    const line = this.#lines.get(request);
    if (line !== undefined) line.status = response.status();
    // A response that may never end: a player reads it as needed, or a script, and its length is unknown.
    const isEndless =
      request.resourceType() === "media" ||
      (isData(request) && response.headers()["content-length"] === undefined);
    if (isEndless && this.#open.has(request))
      this.#open.set(request, performance.now() + STREAM_MS);
    const page = navigatedBy(request);
    // A response without content leaves the page where it is.
    if (page !== undefined && response.status() !== 204) this.tabs.place(page).response = response;
  }

  #onFailed(request: Request): void {
    const line = this.#lines.get(request);
    // The browser also aborts an error response that is not of the type it asked for, such as a style sheet.
    if (line === undefined || line.status >= 400) return;
    const failure = request.failure()?.errorText ?? "failed";
    const wasCut = /ERR_ABORTED/.test(failure) || !URL.canParse(request.url());
    line.failure = (wasCut ? undefined : this.#refusal(new URL(request.url()))) ?? failure;
  }

  #onDone(request: Request): void {
    this.#open.delete(request);
    this.activity += 1;
  }
}

/** Whether a list may grow: by `most` between two answers, and not without end. */
const hasRoom = ({ length }: readonly unknown[], before: number, most: number): boolean =>
  length < Math.min(before + most, MAX_REQUESTS);

/** Whether a script made a request. */
export const isData = (request: Request): boolean => /^(?:fetch|xhr)$/.test(request.resourceType());

const isFavicon = (url: string) => /\/favicon\.ico(?:[?#]|$)/.test(url);

/** The tab whose main frame a request navigates. */
function navigatedBy(request: Request): Page | undefined {
  if (!request.isNavigationRequest()) return undefined;
  try {
    const frame = request.frame();
    return frame.parentFrame() === null ? frame.page() : undefined;
  } catch {
    // A service worker's request has no frame.
    return undefined;
  }
}

/** Whether a request failed; a missing favicon and requests interrupted by a navigation don't count. */
export function isFailed({ url, status, failure }: RequestLine): boolean {
  if (isFavicon(url)) return false;
  return failure === undefined ? status >= 400 : !/ERR_ABORTED/.test(failure);
}

interface Place {
  /** The newest response to a navigation of its main frame. */
  response?: Response;
  /** The last URL that its main frame navigated to, redirects included. */
  wanted?: string;
}

/** The tabs of a run in the order of opening. Sentences refer to the current one. */
class Tabs {
  readonly all: Page[];
  readonly #places = new WeakMap<Page, Place>();
  readonly #seen: Set<Page>;
  #current: Page;

  constructor(context: BrowserContext, first: Page) {
    this.all = [first];
    this.#seen = new Set(this.all);
    this.#current = first;
    context.on("page", (page) => {
      if (!this.all.includes(page)) this.all.push(page);
    });
  }

  /** The current tab; if it closed itself, as sign-in popups do, the last open one. */
  get current(): Page {
    if (this.#current.isClosed())
      this.#current = this.all.findLast((page) => !page.isClosed()) ?? this.#current;
    return this.#current;
  }

  place(page: Page): Place {
    const place = this.#places.get(page) ?? {};
    this.#places.set(page, place);
    return place;
  }

  /** The tab with a number, or an open one that was never current; undefined if there is none (yet). */
  find(which: number | "new"): Page | undefined {
    const tab =
      which === "new" ? this.all.find((page) => !this.#seen.has(page)) : this.all[which - 1];
    return tab?.isClosed() === true ? undefined : tab;
  }

  async switchTo(page: Page): Promise<void> {
    this.#seen.add(page);
    this.#current = page;
    await page.bringToFront();
  }

  notes(): string[] {
    return this.all.slice(1).map((page, index) => {
      const state = page.isClosed() ? " (closed)" : "";
      return `tab ${index + 2} opened: ${page.url()}${state}`;
    });
  }
}
