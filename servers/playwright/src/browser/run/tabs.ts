import type { BrowserContext, Page, Response } from "playwright";

/** The navigations of one tab. */
export interface Place {
  /** The newest response to a navigation of its main frame. */
  response?: Response;
  /** The last URL that its main frame navigated to, redirects included. */
  wanted?: string;
  /** The URL that its main frame was sent to, if it is not a web page: `file:///…`. */
  forbidden?: string;
}

/** The tabs of a run in the order of opening. Sentences refer to the current one. */
export class Tabs {
  readonly all: Page[];
  readonly #places = new WeakMap<Page, Place>();
  readonly #seen = new Set<Page>();
  #current: Page;

  constructor(context: BrowserContext, first: Page) {
    this.all = [first];
    this.#current = first;
    this.#seen.add(first);
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

  /** A tab's navigations. */
  place(page: Page): Place {
    const known = this.#places.get(page) ?? {};
    this.#places.set(page, known);
    return known;
  }

  /** The tab with a number, or an open one that was never current; undefined if there is none (yet). */
  find(which: number | "new"): Page | undefined {
    const found = which === "new" ? this.all.find((page) => !this.#seen.has(page)) : this.all[which - 1];
    return found?.isClosed() === true ? undefined : found;
  }

  /** Makes a tab the current one. */
  async switchTo(page: Page): Promise<void> {
    this.#seen.add(page);
    this.#current = page;
    await page.bringToFront();
  }

  /** Tabs that the page opened, for the answer. */
  notes(): string[] {
    return this.all.slice(1).map((page, index) => {
      const state = page.isClosed() ? " (closed)" : "";
      return `tab ${index + 2} opened: ${page.url()}${state}`;
    });
  }
}
