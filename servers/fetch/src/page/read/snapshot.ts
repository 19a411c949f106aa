import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { cleanText, isJson, nearest, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { HttpAnswer } from "@refmcp/boundary/http-client";
import { decoded } from "../content/address.ts";
import { decodeText, type Encoding, encodingOf } from "../download/charset.ts";
import { type Body, isList, kindOf } from "../download/media-type.ts";
import type { Converter } from "./converter.ts";
import type { Metadata } from "./metadata.ts";
import { fold, outlineOf, sectionOf, slugOf } from "./outline.ts";

/** How a page is presented. */
export interface View {
  /**
   * auto: HTML as Markdown, feeds and sitemaps as lists, anything else unchanged; links: only the links of HTML; data: the
   * structured data and tables of HTML, the fields of feeds.
   */
  readonly format: "auto" | "markdown" | "text" | "html" | "json" | "links" | "data";
  readonly selector?: string | undefined;
  /** A heading; returns only the content under it. */
  readonly section?: string | undefined;
  /** The URL's fragment, which selects a part of the page unless `section` or `selector` is given. */
  readonly fragment?: string | undefined;
  readonly includeLinks: boolean;
}

/** A page as text. */
export interface Page extends Metadata {
  readonly text: string;
  /** How the text was extracted. */
  readonly extractor: string;
  readonly needsJavascript: boolean;
  /** Whether its lines are rows or items, between which pieces end. */
  readonly hasRows?: boolean;
  readonly hasHidden?: boolean;
  /** Why the conversion failed. */
  readonly reason?: string | undefined;
  /** Pages of a PDF. */
  readonly pages?: number | undefined;
  /** What the URL's fragment selected: its heading, otherwise the fragment. */
  readonly section?: string | undefined;
  /** If the fragment points to nothing: similar names. */
  readonly similar?: readonly string[] | undefined;
  /** What was not used of the request, or matched otherwise. */
  readonly notes?: readonly string[] | undefined;
}

/** One download, and the texts extracted from it. */
export class Snapshot {
  /** A hash of its URL and content, so the same content has the same id. */
  readonly id: string;
  readonly answer: HttpAnswer;
  readonly body: Body;
  readonly encoding: Encoding;
  /** When it, or the same content, was last downloaded, in milliseconds since 1970. */
  fetchedAt = Date.now();
  readonly #converter: Converter;
  readonly #pages = new Map<string, Page>();

  private constructor(
    answer: HttpAnswer,
    { body, encoding }: Pick<Snapshot, "body" | "encoding">,
    converter: Converter,
  ) {
    this.answer = answer;
    this.body = body;
    this.encoding = encoding;
    this.#converter = converter;
    const hash = createHash("sha256").update(answer.url.href).update("\n").update(answer.body);
    this.id = hash.digest("hex").slice(0, 12);
  }

  static async of(answer: HttpAnswer, converter: Converter): Promise<Snapshot> {
    const type = answer.headers["content-type"] ?? "";
    const body = await kindOf(answer.body, type);
    const inner = body.mimeType === "application/gzip" ? await unpacked(answer) : undefined;
    if (inner !== undefined) return Snapshot.of(inner, converter);
    const encoding = await encodingOf(answer.body, type, body.kind === "html");
    return new Snapshot(answer, { body, encoding }, converter);
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
  source(): string {
    return cleanText(decodeText(this.answer.body, this.encoding));
  }

  /**
   * The text of a view; extracted only once.
   *
   * @throws ToolError `invalid` for a view that this body does not support; `not_found` for a selector or section
   * without a match; the signal's reason.
   */
  async page(view: View, signal: AbortSignal): Promise<Page> {
    const { section, selector, format } = view;
    if (section !== undefined && !/^(?:auto|markdown|data)$/.test(format))
      throw new ToolError("invalid", `section does not work with format ${format}.`, {
        hint: "Omit format or section.",
      });
    const [name, directive] = view.fragment?.split(":~:") ?? [];
    const isLookedUp =
      isProse(format) &&
      this.body.kind === "html" &&
      section === undefined &&
      selector === undefined;
    const asked = { ...view, section: undefined, fragment: (isLookedUp && name) || undefined };
    const key = JSON.stringify(asked);
    const page = this.#pages.get(key) ?? (await this.#made(asked, signal));
    this.#pages.set(key, page);
    const notes =
      directive === undefined ? [] : ["the text directive is not used; fetch_find finds its words"];
    if (section !== undefined) {
      if (name) notes.push("the #fragment is not used with section");
      return sectionIn(page, section, notes);
    }
    const slug = slugOf(decoded(name ?? ""));
    if (page.section !== undefined || !name || slug === "top") return { ...page, notes };
    const found =
      isProse(format) && this.body.kind !== "html"
        ? sectionOf(page.text, (title) => slugOf(title) === slug)
        : undefined;
    if (found !== undefined) return { ...page, text: found.text, section: found.title, notes };
    return { ...page, notes: [...notes, this.#unused(name ?? "", page, view)] };
  }

  /** Why the URL's fragment selected nothing. */
  #unused(fragment: string, page: Page, { format, selector }: View): string {
    const id = JSON.stringify(decoded(fragment));
    if (selector !== undefined) return "the #fragment is not used with selector";
    if (!isProse(format)) return `the #fragment is not used with format ${format}`;
    if (this.body.kind !== "html") return `no heading has the id ${id}, so this is the whole text`;
    if (page.similar === undefined)
      return "the #fragment is not used, because the page could not be parsed";
    const similar = page.similar.map((one) => JSON.stringify(one)).join(", ");
    return `nothing readable has the id ${id}, so this is the whole page${similar && `; similar ids: ${similar}`}`;
  }

  async #made(view: View, signal: AbortSignal): Promise<Page> {
    const { kind, mimeType } = this.body;
    const asIs = { extractor: "unchanged", needsJavascript: false };
    const isData = view.format === "data";
    if (view.selector !== undefined && (kind !== "html" || !(isProse(view.format) || isData)))
      throw new ToolError(
        "invalid",
        `selector only works on HTML, with format markdown, text or data; this is ${mimeType}, format ${view.format}.`,
        { hint: "Omit selector." },
      );
    if (isData && !this.isText) throw this.#noData();
    if (kind === "pdf" || kind === "office") {
      const bytes = this.answer.body;
      const format = view.format === "text" ? "text" : "markdown";
      const writing = {
        format,
        base: this.answer.url.href,
        includeLinks: view.includeLinks,
      } as const;
      const work = kind === "pdf" ? { pdf: bytes } : { office: bytes, writing };
      const { text, ...facts } = await this.#converter.document(work, signal);
      const extractor = `text of the ${kind === "pdf" ? "PDF" : "document"}`;
      return { ...asIs, ...facts, text: cleanText(text).trim(), extractor };
    }
    if (!this.isText)
      throw new ToolError("invalid", `${this.answer.url.href} is ${mimeType}, which has no text.`, {
        hint: `Its bytes are in the resource ${this.uri}; format metadata describes it.`,
      });
    const text = this.source();
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
    if (view.format === "html") return { ...asIs, text };
    if (kind === "html") return await this.#converted(text, view, signal);
    const url = this.answer.url.href;
    if (isList(text)) {
      const format = view.format === "text" || isData ? view.format : "markdown";
      const list = await this.#converter.list({ text, url, format }, signal);
      return { ...list, hasRows: true, text: cleanText(list.text).trim() };
    }
    if (isData && !isJson(text)) throw this.#noData();
    return { ...asIs, text };
  }

  #noData(): ToolError {
    const message = `format data works on HTML, JSON, feeds and sitemaps; ${this.answer.url.href} is ${this.body.mimeType}.`;
    return new ToolError("invalid", message, { hint: "Use format auto." });
  }

  async #converted(html: string, view: View, signal: AbortSignal): Promise<Page> {
    const { selector, fragment, includeLinks, format: wanted } = view;
    const format =
      wanted === "text" || wanted === "links" || wanted === "data" ? wanted : "markdown";
    const url = this.answer.url.href;
    const request = { html, url, format, selector, fragment, includeLinks } as const;
    const converted = await this.#converter.html(request, signal);
    const none = { found: undefined, selectorProblem: undefined, isId: false };
    const { found, selectorProblem, isId, ...conversion } = { ...none, ...converted };
    const id = selector?.slice(1) ?? "";
    const asId = `In CSS, signs in an id need a backslash: #${id.replace(/[^\w-]/g, "\\$&")}. Or add #${id} to the URL.`;
    const shown = JSON.stringify(selector);
    if (selectorProblem !== undefined)
      throw new ToolError(
        "invalid",
        `${shown} is not a valid CSS selector: ${oneLine(selectorProblem)}.`,
        {
          hint: isId ? asId : "Use a selector such as main, #content or .article p.",
        },
      );
    if (found !== undefined && found > 0 && format === "data" && conversion.text === "")
      throw new ToolError(
        "not_found",
        `The selector ${shown} matches no table and nothing in one.`,
        {
          hint: "Omit selector for all data of the page, or use format auto for the elements' text.",
        },
      );
    if (found === 0)
      throw new ToolError("not_found", `The selector ${shown} matches nothing in ${url}.`, {
        hint: isId ? asId : "View the source with format html, or omit selector.",
      });
    const isUnparsed = conversion.extractor === "tags removed";
    const unused =
      selector !== undefined
        ? "selector"
        : /^(?:links|data)$/.test(view.format)
          ? "format"
          : undefined;
    if (isUnparsed && unused !== undefined)
      throw new ToolError(
        "unavailable",
        `${url} could not be parsed, so only its text is available.`,
        {
          hint: `Omit ${unused}.`,
        },
      );
    return {
      ...conversion,
      hasRows: format === "data",
      text: cleanText(conversion.text).trim(),
    };
  }
}

/** Maximum bytes of a text that is downloaded as a gzip file. */
const MAX_UNPACKED = 10_000_000;

/** The text in a gzip file, such as a sitemap; undefined for other contents. */
async function unpacked(answer: HttpAnswer): Promise<HttpAnswer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of Readable.from([answer.body]).pipe(createGunzip())) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_UNPACKED) break;
    }
  } catch {
    // Damaged, or cut after a part of the download.
  }
  const body = Buffer.concat(chunks).subarray(0, MAX_UNPACKED);
  const { kind } = await kindOf(body, "");
  if (bytes === 0 || kind !== "text") return undefined;
  const headers = { ...answer.headers, "content-type": "" };
  return { ...answer, body, headers, isCut: answer.isCut || bytes > MAX_UNPACKED };
}

const isProse = (format: View["format"]): boolean => /^(?:auto|markdown|text)$/.test(format);

const MAX_TITLES = 20;

/**
 * The section under a heading with these words.
 *
 * @throws ToolError `not_found`
 */
function sectionIn(page: Page, words: string, notes: readonly string[]): Page {
  const wanted = fold(words);
  const exact = sectionOf(page.text, (title) => fold(title) === wanted);
  const found = exact ?? sectionOf(page.text, (title) => fold(title).includes(wanted));
  if (found !== undefined) {
    const others = found.others.slice(0, MAX_TITLES).map((title) => JSON.stringify(title));
    const which =
      exact === undefined ? [`the first heading that contains ${JSON.stringify(words)}`] : [];
    const also = others.length > 0 ? [`other headings that match: ${others.join(", ")}`] : [];
    return { ...page, text: found.text, notes: [...notes, ...which, ...also] };
  }
  const titles = outlineOf(page.text).map(({ title }) => title);
  const near = nearest(words, titles);
  const shown = (near.length > 0 ? near : titles.slice(0, MAX_TITLES)).map((title) =>
    JSON.stringify(title),
  );
  const known =
    titles.length === 0
      ? "The page has no headings; use fetch_find."
      : `${near.length > 0 ? "Similar headings" : "Its headings"}: ${shown.join(", ")}.`;
  throw new ToolError("not_found", `The page has no heading ${JSON.stringify(words)}.`, {
    hint: `${known} For an element with an id, add #id to the URL.`,
  });
}
