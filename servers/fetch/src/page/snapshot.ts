import { createHash } from "node:crypto";
import { cleanText, oneLine, ToolError } from "@refmcp/core/answer";
import type { HttpAnswer } from "@refmcp/core/http-client";
import type { Converter } from "./converter.ts";
import type { Anchor } from "./extract.ts";
import type { Facts } from "./facts.ts";
import { type Body, kindOf } from "./kind.ts";
import { outlineOf, sectionOf } from "./outline.ts";
import { decodeText } from "./text.ts";

/** How a page is presented. */
export interface View {
  /** auto: HTML as Markdown, anything else unchanged; links: only the links of HTML. */
  readonly format: "auto" | "markdown" | "text" | "html" | "json" | "links";
  readonly selector?: string | undefined;
  /** A heading; returns only the content under it. */
  readonly section?: string | undefined;
  /** The URL's fragment, which selects a section unless `section` is given. */
  readonly fragment?: string | undefined;
  readonly includeLinks: boolean;
}

/** A page as text. */
export interface Page extends Facts {
  readonly text: string;
  /** How the text was extracted. */
  readonly extractor: string;
  readonly needsJavascript: boolean;
  readonly hasHidden?: boolean;
  /** Why the conversion failed. */
  readonly reason?: string | undefined;
  /** Pages of a PDF. */
  readonly pages?: number | undefined;
  readonly anchors?: ReadonlyMap<string, Anchor> | undefined;
  /** The heading of the section that the URL's fragment selected. */
  readonly section?: string | undefined;
}

/** For a page opened in a browser, why that failed, if it did. */
interface Rendering {
  readonly failed?: string;
}

/** The names of the conversions in answers. */
const EXTRACTORS: Readonly<Record<string, string>> = {
  readability: "main content",
  frameless: "page without navigation",
  body: "whole page",
  links: "links",
  selector: "selected elements",
  stream: "whole page, as a stream",
  "tags removed": "tags removed",
};

/** One download, and the texts extracted from it. */
export class Snapshot {
  /** A hash of its URL and content, so the same content has the same id. */
  readonly id: string;
  readonly answer: HttpAnswer;
  readonly body: Body;
  /** Set if the page was, or should have been, rendered in a browser. */
  readonly rendering: Rendering | undefined;
  #fetchedAt: number;
  readonly #converter: Converter;
  readonly #pages = new Map<string, Page>();

  private constructor(answer: HttpAnswer, body: Body, converter: Converter, rendering?: Rendering) {
    this.answer = answer;
    this.rendering = rendering;
    this.body = body;
    this.#converter = converter;
    this.#fetchedAt = Date.now();
    const hash = createHash("sha256").update(answer.url.href).update("\n").update(answer.body);
    this.id = hash.digest("hex").slice(0, 12);
  }

  static async of(answer: HttpAnswer, converter: Converter, rendering?: Rendering): Promise<Snapshot> {
    const body = await kindOf(answer.body, answer.headers["content-type"] ?? "");
    return new Snapshot(answer, body, converter, rendering);
  }

  /** When it was last downloaded, in milliseconds since 1970. */
  get fetchedAt(): number {
    return this.#fetchedAt;
  }

  /** Called when the same content was downloaded again. */
  cameAgain(at: number): void {
    this.#fetchedAt = at;
  }

  get uri(): string {
    return `fetch://snapshot/${this.id}`;
  }

  /** Approximate size in memory, in bytes. */
  get size(): number {
    let chars = 0;
    for (const { text } of this.#pages.values()) chars += text.length;
    return this.answer.body.length + chars * 2;
  }

  /** Whether it has text, possibly after a conversion. */
  get isReadable(): boolean {
    return this.isText || this.body.kind === "pdf" || this.body.kind === "office";
  }

  get isText(): boolean {
    return this.body.kind === "html" || this.body.kind === "json" || this.body.kind === "text";
  }

  /** The decoded body, without hidden characters. */
  source(): { text: string; charset: string } {
    const { body, headers } = this.answer;
    const { text, charset } = decodeText(body, headers["content-type"] ?? "", this.body.kind === "html");
    return { text: cleanText(text), charset };
  }

  /**
   * The text of a view; extracted only once.
   *
   * @throws ToolError `invalid` for a view that this body does not support; `not_found` for a selector or section
   * without a match; the signal's reason.
   */
  async page(view: View, signal: AbortSignal): Promise<Page> {
    const whole = { ...view, section: undefined, fragment: undefined };
    const key = JSON.stringify(whole);
    const page = this.#pages.get(key) ?? (await this.#made(whole, signal));
    this.#pages.set(key, page);
    if (view.section !== undefined) return section(page, view.section);
    const anchor = page.anchors?.get(view.fragment ?? "");
    const found = anchor && sectionOf(page.text, anchor.title, anchor.index);
    return found === undefined
      ? page
      : { ...page, text: page.text.slice(found.start, found.end).trim(), section: anchor?.title };
  }

  async #made(view: View, signal: AbortSignal): Promise<Page> {
    const { kind, mimeType } = this.body;
    const asIs = { extractor: "unchanged", needsJavascript: false };
    if (view.selector !== undefined && (kind !== "html" || view.format === "html" || view.format === "json"))
      throw new ToolError(
        "invalid",
        `selector only works on HTML, with format markdown or text; this is ${mimeType}.`,
        {
          hint: "Omit selector.",
        },
      );
    if (kind === "pdf" || kind === "office") {
      const bytes = this.answer.body;
      const format = view.format === "text" ? "text" : "markdown";
      const writing = { format, base: this.answer.url.href, includeLinks: view.includeLinks } as const;
      const work = kind === "pdf" ? { pdf: bytes } : { office: bytes, writing };
      const { text, ...facts } = await this.#converter.document(work, signal);
      const extractor = `text of the ${kind === "pdf" ? "PDF" : "document"}`;
      return { ...asIs, ...facts, text: cleanText(text).trim(), extractor };
    }
    if (!this.isText)
      throw new ToolError("invalid", `${this.answer.url.href} is ${mimeType}, which has no text.`, {
        hint: `Its bytes are in the resource ${this.uri}/raw; format metadata describes it.`,
      });
    const { text } = this.source();
    if (view.format === "json") {
      if (isJson(text)) return { ...asIs, text };
      throw new ToolError("invalid", `${this.answer.url.href} (${mimeType}) is not JSON.`, {
        hint: "Use format auto, or html for the source.",
      });
    }
    if (view.format === "links" && kind !== "html")
      throw new ToolError("invalid", `format links only works on HTML; this is ${mimeType}.`, {
        hint: "Use format auto.",
      });
    if (kind !== "html" || view.format === "html") return { ...asIs, text };
    return await this.#converted(text, view, signal);
  }

  async #converted(html: string, view: View, signal: AbortSignal): Promise<Page> {
    const { selector, includeLinks } = view;
    const format = view.format === "text" || view.format === "links" ? view.format : "markdown";
    const url = this.answer.url.href;
    const request = { html, url, format, selector, includeLinks } as const;
    const converted = await this.#converter.html(request, signal);
    const { found, selectorProblem, ...conversion } = {
      found: undefined,
      selectorProblem: undefined,
      ...converted,
    };
    if (selectorProblem !== undefined)
      throw new ToolError(
        "invalid",
        `${JSON.stringify(selector)} is not a valid CSS selector: ${oneLine(selectorProblem)}.`,
        {
          hint: "Use a selector such as main, #content or .article p.",
        },
      );
    if (found === 0)
      throw new ToolError(
        "not_found",
        `The selector ${JSON.stringify(selector)} matches nothing in ${url}.`,
        {
          hint: "View the source with format html, or omit selector.",
        },
      );
    const isRendered = this.rendering !== undefined && this.rendering.failed === undefined;
    return {
      ...conversion,
      needsJavascript: conversion.needsJavascript && !isRendered,
      text: cleanText(conversion.text).trim(),
      extractor: EXTRACTORS[conversion.extractor] ?? conversion.extractor,
    };
  }
}

function section(page: Page, title: string): Page {
  const found = sectionOf(page.text, title);
  if (found !== undefined) return { ...page, text: page.text.slice(found.start, found.end).trim() };
  const headings = outlineOf(page.text).map((heading) => heading.title);
  const known = headings.slice(0, 20).map((heading) => JSON.stringify(heading));
  throw new ToolError("not_found", `The page has no heading ${JSON.stringify(title)}.`, {
    hint:
      known.length === 0 ? "The page has no headings; use fetch_find." : `Its headings: ${known.join(", ")}.`,
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
