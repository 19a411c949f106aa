/** How a download is read: as Markdown or as its source; all of it, or the part that a heading, a selector or the URL's fragment names. */
import { cleanText, ToolError } from "@refmcp/boundary/answer";
import type { HttpAnswer } from "@refmcp/boundary/http-client";
import { decode } from "../content/address.ts";
import type { Metadata } from "../convert/metadata.ts";
import type { Converter } from "./converter.ts";
import { type Body, isList } from "./media-type.ts";
import { namedSection, sectionOf, slugOf } from "./outline.ts";

/** How a page is presented: HTML as Markdown, feeds and sitemaps as lists, anything else unchanged. */
export interface View {
  /** The source instead. */
  readonly raw?: boolean | undefined;
  readonly selector?: string | undefined;
  /** A heading; returns only the content under it. */
  readonly section?: string | undefined;
  /** The URL's fragment, which selects a part of the page unless `section` or `selector` is given. */
  readonly fragment?: string | undefined;
  /** Default: true. */
  readonly includeLinks?: boolean;
}

/** A page as text. */
export interface Page extends Metadata {
  readonly text: string;
  /** How the text was extracted. */
  readonly extractor: string;
  readonly needsJavascript: boolean;
  readonly hasHidden?: boolean;
  /** Why the conversion failed. */
  readonly reason?: string | undefined;
  /** Pages of a PDF. */
  readonly pages?: number | undefined;
  /** What the URL's fragment selected: its heading, otherwise the fragment. */
  readonly section?: string | undefined;
  /** What was not used of the request, or matched otherwise. */
  readonly notes?: readonly string[] | undefined;
}

/** The part of a snapshot that is needed to read it. */
interface Download {
  readonly answer: HttpAnswer;
  readonly body: Body;
  readonly uri: string;
  readonly isReadable: boolean;
  source(): string;
}

/** The views that were read before, and what reads others. */
interface Reader {
  readonly pages: Map<string, Page>;
  readonly converter: Converter;
  readonly signal: AbortSignal;
}

/**
 * The text of a view of a download.
 *
 * @throws ToolError `invalid` for a view that this body does not support; `not_found` for a selector or section without a match;
 * the signal's reason.
 */
export async function readView(download: Download, view: View, reader: Reader): Promise<Page> {
  checkView(download, view);
  const { raw = false, selector, section } = view;
  const isHtml = download.body.kind === "html";
  // A text directive names words, which fetch_find finds.
  const name = view.fragment?.split(":~:")[0] || undefined;
  const isNamed = !raw && selector === undefined && section === undefined;
  const fragment = isNamed ? name : undefined;
  const bodyView = { ...view, section: undefined, fragment: isHtml ? fragment : undefined };
  const key = JSON.stringify(bodyView);
  const page = reader.pages.get(key) ?? (await readBody(download, bodyView, reader));
  reader.pages.set(key, page);
  const unused =
    name === undefined || isNamed
      ? []
      : ["the #fragment is not used with section, selector or raw"];
  if (section !== undefined) {
    const { text, notes } = namedSection(page.text, section);
    return { ...page, text, notes: [...unused, ...notes] };
  }
  const slug = slugOf(decode(fragment ?? ""));
  if (page.section !== undefined || slug === "" || slug === "top")
    return { ...page, notes: unused };
  const part = isHtml ? undefined : sectionOf(page.text, (title) => slugOf(title) === slug);
  if (part !== undefined) return { ...page, text: part.text, section: part.title };
  const missing = JSON.stringify(decode(fragment ?? ""));
  return { ...page, notes: [`nothing readable has the id ${missing}, so this is the whole page`] };
}

/** @throws ToolError `invalid` for a view that this body does not support. */
function checkView({ body, answer, isReadable, uri }: Download, view: View): void {
  const { raw, section, selector } = view;
  const refuse = (message: string, hint: string) => {
    throw new ToolError("invalid", message, { hint });
  };
  if (raw && (section ?? selector) !== undefined)
    refuse("section and selector do not work with raw.", "Omit raw.");
  if (!isReadable)
    refuse(
      `${answer.url.href} is ${body.mimeType}, which has no text.`,
      `Its bytes are in the resource ${uri}; format metadata describes it.`,
    );
  if (body.kind !== "html" && selector !== undefined)
    refuse(`selector only works on HTML; this is ${body.mimeType}.`, "Omit selector.");
}

/** Reads all of a body, or of HTML the part that a selector or fragment names. */
async function readBody(download: Download, view: View, reader: Reader): Promise<Page> {
  const { answer, body } = download;
  const { converter, signal } = reader;
  const url = answer.url.href;
  if (body.kind === "pdf" || body.kind === "office") {
    const isPdf = body.kind === "pdf";
    const writing = { base: url, includeLinks: view.includeLinks ?? true };
    const work = isPdf ? { pdf: answer.body } : { office: answer.body, writing };
    const { text, ...facts } = await converter.document(work, signal);
    const extractor = `text of the ${isPdf ? "PDF" : "document"}`;
    return { ...facts, text: cleanText(text).trim(), extractor, needsJavascript: false };
  }
  const text = download.source();
  if (!view.raw && body.kind === "html") return await readHtml(text, url, view, reader);
  if (view.raw || !isList(text)) return { text, extractor: "unchanged", needsJavascript: false };
  const list = await converter.list({ text, url }, signal);
  return { ...list, text: cleanText(list.text).trim() };
}

/** @throws ToolError `invalid` for a selector that is not valid, `not_found` for one without a match. */
async function readHtml(
  html: string,
  url: string,
  { selector, fragment, includeLinks = true }: View,
  { converter, signal }: Reader,
): Promise<Page> {
  const request = { html, url, selector, fragment, includeLinks };
  const { problem, ...conversion } = await converter.html(request, signal);
  if (problem !== undefined)
    throw new ToolError(problem.kind, problem.message, {
      hint: "For an element with an id, add #id to the URL. raw shows the source.",
    });
  if (selector !== undefined && conversion.extractor === "tags removed")
    throw new ToolError(
      "unavailable",
      `${url} could not be parsed, so only its text is available.`,
      { hint: "Omit selector." },
    );
  return { ...conversion, text: cleanText(conversion.text).trim() };
}
