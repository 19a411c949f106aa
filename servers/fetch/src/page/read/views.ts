/** How a download is read: as Markdown, text, source or data, all of it or a part. */

import { cleanText, isJson, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { HttpAnswer } from "@refmcp/boundary/http-client";
import { decoded } from "../content/address.ts";
import type { Conversion } from "../convert/html.ts";
import type { Converter } from "./converter.ts";
import { type Body, isList } from "./media-type.ts";
import { sectionOf, slugOf } from "./outline.ts";
import type { Page, View } from "./page.ts";
import { sectionIn } from "./section.ts";

/** What is read. */
interface Download {
  readonly answer: HttpAnswer;
  readonly body: Body;
  readonly uri: string;
  readonly isText: boolean;
  readonly isReadable: boolean;
  source(): string;
}

/** The texts that were read before, and what reads others. */
interface Reader {
  readonly pages: Map<string, Page>;
  readonly converter: Converter;
  readonly signal: AbortSignal;
}

const isProse = (format: View["format"]): boolean => /^(?:auto|markdown|text)$/.test(format);

/**
 * The text of a view of a download.
 *
 * @throws ToolError `invalid` for a view that this body does not support; `not_found` for a selector or section without a match;
 * the signal's reason.
 */
export async function readView(download: Download, view: View, reader: Reader): Promise<Page> {
  checkView(download, view);
  const { section, selector, format } = view;
  const isHtml = download.body.kind === "html";
  const [name = "", directive] = view.fragment?.split(":~:") ?? [];
  const isWhole = section === undefined && selector === undefined;
  const fragment = isProse(format) && isHtml && isWhole && name !== "" ? name : undefined;
  const read = { ...view, section: undefined, fragment };
  const key = JSON.stringify(read);
  const page = reader.pages.get(key) ?? (await readBody(download, read, reader));
  reader.pages.set(key, page);
  const notes =
    directive === undefined ? [] : ["the text directive is not used; fetch_find finds its words"];
  if (section !== undefined) {
    if (name !== "") notes.push("the #fragment is not used with section");
    return sectionIn(page, section, notes);
  }
  const slug = slugOf(decoded(name));
  if (page.section !== undefined || name === "" || slug === "top") return { ...page, notes };
  const part =
    isProse(format) && !isHtml
      ? sectionOf(page.text, (title) => slugOf(title) === slug)
      : undefined;
  if (part !== undefined) return { ...page, text: part.text, section: part.title, notes };
  return { ...page, notes: [...notes, unusedFragment(name, page, view, isHtml)] };
}

/** Why the URL's fragment selected nothing. */
function unusedFragment(name: string, { similar }: Page, view: View, isHtml: boolean): string {
  const id = JSON.stringify(decoded(name));
  if (view.selector !== undefined) return "the #fragment is not used with selector";
  if (!isProse(view.format)) return `the #fragment is not used with format ${view.format}`;
  if (!isHtml) return `no heading has the id ${id}, so this is the whole text`;
  if (similar === undefined)
    return "the #fragment is not used, because the page could not be parsed";
  const names = similar.map((other) => JSON.stringify(other)).join(", ");
  return `nothing readable has the id ${id}, so this is the whole page${names && `; similar ids: ${names}`}`;
}

/** @throws ToolError `invalid` for a view that this body does not support. */
function checkView({ body, answer, isText, isReadable, uri }: Download, view: View): void {
  const { format, section, selector } = view;
  const { kind, mimeType } = body;
  const isHtml = kind === "html";
  const problems: readonly (readonly [isProblem: boolean, message: string, hint: string])[] = [
    [
      section !== undefined && !/^(?:auto|markdown|data)$/.test(format),
      `section does not work with format ${format}.`,
      "Omit format or section.",
    ],
    [
      selector !== undefined && !(isHtml && isProse(format)),
      `selector only works on HTML, with format markdown or text; this is ${mimeType}, format ${format}.`,
      "Omit selector.",
    ],
    [
      !isReadable,
      `${answer.url.href} is ${mimeType}, which has no text.`,
      `Its bytes are in the resource ${uri}; format metadata describes it.`,
    ],
    [
      format === "links" && !isHtml,
      `format links only works on HTML; this is ${mimeType}.`,
      "Use format auto.",
    ],
    [
      format === "data" && !isText,
      `format data works on HTML, JSON, feeds and sitemaps; ${answer.url.href} is ${mimeType}.`,
      "Use format auto.",
    ],
  ];
  for (const [isProblem, message, hint] of problems)
    if (isProblem) throw new ToolError("invalid", message, { hint });
}

/** Reads all of a body, or of HTML the part that a selector or fragment names. */
async function readBody(
  download: Download,
  view: View,
  { converter, signal }: Reader,
): Promise<Page> {
  const { answer, body } = download;
  const { format, includeLinks } = view;
  const url = answer.url.href;
  const asIs = { extractor: "unchanged", needsJavascript: false };
  if (body.kind === "pdf" || body.kind === "office") {
    const writing = {
      format: format === "text" ? format : "markdown",
      base: url,
      includeLinks,
    } as const;
    const isPdf = body.kind === "pdf";
    const work = isPdf ? { pdf: answer.body } : { office: answer.body, writing };
    const { text, ...facts } = await converter.document(work, signal);
    const extractor = `text of the ${isPdf ? "PDF" : "document"}`;
    return { ...asIs, ...facts, text: cleanText(text).trim(), extractor };
  }
  const text = download.source();
  if (format === "json" && !isJson(text))
    throw new ToolError("invalid", `${url} (${body.mimeType}) is not JSON.`, {
      hint: "Use format auto, or html for the source.",
    });
  if (format === "html" || format === "json") return { ...asIs, text };
  if (body.kind === "html") return await readHtml(text, url, view, { converter, signal });
  if (isList(text)) {
    const as = format === "text" || format === "data" ? format : "markdown";
    const list = await converter.list({ text, url, format: as }, signal);
    return { ...list, hasRows: true, text: cleanText(list.text).trim() };
  }
  if (format === "data" && !isJson(text))
    throw new ToolError(
      "invalid",
      `format data works on HTML, JSON, feeds and sitemaps; ${url} is ${body.mimeType}.`,
      { hint: "Use format auto." },
    );
  return { ...asIs, text };
}

async function readHtml(
  html: string,
  url: string,
  { selector, fragment, includeLinks, format: given }: View,
  { converter, signal }: Pick<Reader, "converter" | "signal">,
): Promise<Page> {
  const format = given === "text" || given === "links" || given === "data" ? given : "markdown";
  const request = { html, url, format, selector, fragment, includeLinks } as const;
  const { matches, ...conversion } = await converter.html(request, signal);
  const isUnparsed = conversion.extractor === "tags removed";
  if (isUnparsed && (selector !== undefined || format === "links" || format === "data"))
    throw new ToolError(
      "unavailable",
      `${url} could not be parsed, so only its text is available.`,
      { hint: `Omit ${selector === undefined ? "format" : "selector"}.` },
    );
  if (selector !== undefined && matches !== undefined) checkMatches(selector, matches, url);
  return { ...conversion, hasRows: format === "data", text: cleanText(conversion.text).trim() };
}

/** @throws ToolError `invalid` for a selector that is not valid, `not_found` for one without a match. */
function checkMatches(
  selector: string,
  { count, problem, isId }: NonNullable<Conversion["matches"]>,
  url: string,
): void {
  if (count > 0) return;
  const shown = JSON.stringify(selector);
  const id = selector.slice(1);
  const asId = `In CSS, signs in an id need a backslash: #${id.replace(/[^\w-]/g, "\\$&")}. Or add #${id} to the URL.`;
  const hint = "View the source with format html, or omit selector.";
  if (problem === undefined)
    throw new ToolError("not_found", `The selector ${shown} matches nothing in ${url}.`, {
      hint: isId ? asId : hint,
    });
  const message = `${shown} is not a valid CSS selector: ${oneLine(problem)}.`;
  throw new ToolError("invalid", message, {
    hint: isId ? asId : "Use a selector such as main, #content or .article p.",
  });
}
