import { parseHTML } from "linkedom";

export type PageDocument = ReturnType<typeof parseHTML>["document"];
export type PageElement = NonNullable<ReturnType<PageDocument["querySelector"]>>;

/** Elements without text for a reader. Images and formulas stay. */
const DEAD =
  "script, style, template, noscript, iframe, object, embed, svg, canvas, link, meta, title, base, [hidden], [aria-hidden=true]";
/** Elements that say themselves that they are around the content. */
const FRAME =
  "nav, header, footer, aside, dialog, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], [role=menu], [role=menubar], [role=dialog], [role=alertdialog]";
/** Words of a class or id that name what is around the content. */
const AROUND = new Set(
  (
    "ad ads advert advertisement breadcrumb breadcrumbs consent cookie cookies copyright drawer footer gdpr login " +
    "masthead megamenu menu modal nav navbar navigation newsletter offcanvas onetrust outbrain overlay pager pagination " +
    "popup promo recommendations recommended related share sharedaddy sharing sidebar signin signup skip social subscribe " +
    "subscription taboola toc"
  ).split(" "),
);
/** What has this share of a page's text is content, whatever its class says. */
const TOO_MUCH = 0.4;
/** A `main` with less of the page's text, or less text, is not taken for all of the content. */
const MAIN_SHARE = 0.3;
const MAIN_CHARS = 200;

/**
 * A page as a document with all its content in one body, as the HTML standard's tree has it: linkedom leaves elements where
 * it finds them, and what is outside the body would be lost. It would also read a CDATA section, which HTML has only in
 * SVG and MathML, to its end. Streamed parts are put where they belong.
 */
export function parsePage(html: string): PageDocument {
  const content = html.replace(
    /<!doctype[^<>]*>|<\/?(?:html|head|body)(?:\s[^<>]*)?>|<!\[CDATA\[|\]\]>/gi,
    "",
  );
  const { document } = parseHTML(`<!doctype html><html><head></head><body>${content}</body></html>`);
  // React streams what was not ready as hidden elements at the end, S:1 for the place of the template B:1.
  const streamed = html.includes('id="S:') ? document.querySelectorAll('div[hidden][id^="S:"]') : [];
  for (const part of [...streamed]) {
    const place = document.getElementById(part.id.replace("S", "B"));
    if (place?.tagName === "TEMPLATE") place.replaceWith(...part.childNodes);
    else part.removeAttribute("hidden");
  }
  return document;
}

/** Characters of an element's text, runs of blanks counted once. */
export function textOf(element: { textContent: string | null }): string {
  return (element.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** Less text than this is next to none. */
const NO_TEXT = 250;

/**
 * Removes what no reader sees: programs and styles, and what is hidden by attributes or CSS. If nothing is left,
 * `noscript` is read: forums put their posts there for visitors without JavaScript.
 *
 * @returns whether text is left that CSS hides, because the page would be next to nothing without it.
 */
export function removeUnseen(document: PageDocument): boolean {
  const css = [...document.querySelectorAll("style")].map((style) => style.textContent ?? "").join("\n");
  const isStyled = /background/i.test(css) || document.querySelector("link[rel~=stylesheet]") !== null;
  const fallbacks = [...document.querySelectorAll("noscript")].map((element) => element.innerHTML);
  for (const element of [...document.querySelectorAll(DEAD)]) element.remove();
  const isLeft = [removeHidden(document, isStyled), removeByRules(document, css)].includes(true);
  if (textOf(document.body).length >= NO_TEXT) return isLeft;
  const { document: fallback } = parseHTML(
    `<!doctype html><html><body>${fallbacks.join("\n")}</body></html>`,
  );
  if (textOf(fallback.body).length < NO_TEXT) return isLeft;
  for (const element of [...fallback.querySelectorAll(DEAD)]) element.remove();
  document.body.append(...fallback.body.childNodes);
  return isLeft;
}

/** CSS longer than this is not looked through. */
const MAX_CSS = 200_000;
/** Rules that hide more of a page than this wait for a program to show it again. */
const MAX_HIDDEN_SHARE = 0.2;

function removeHidden(document: PageDocument, isStyled: boolean): boolean {
  const hidden = [...document.querySelectorAll("[style]")].filter((element) => {
    const style = element.getAttribute("style") ?? "";
    return isHiding(style) || (WHITE.test(style) && !isStyled && !hasBackground(element));
  });
  let seen = textOf(document.body).length;
  let isLeft = false;
  for (const element of hidden) {
    const { length } = textOf(element);
    // Where hardly anything else is left, a program shows it when the page is ready.
    if (length > NO_TEXT && seen - length < NO_TEXT) {
      isLeft = true;
      continue;
    }
    if (document.body.contains(element)) seen -= length;
    element.remove();
  }
  return isLeft;
}

function removeByRules(document: PageDocument, css: string): boolean {
  const selectors = css.length > MAX_CSS ? [] : hidingSelectors(css);
  if (selectors.length === 0) return false;
  const hidden = [...document.body.querySelectorAll(selectors.join(", "))];
  const chars = hidden.reduce((sum, element) => sum + textOf(element).length, 0);
  if (chars > textOf(document.body).length * MAX_HIDDEN_SHARE) return true;
  for (const element of hidden) element.remove();
  return false;
}

const WHITE =
  /(?:^|[;\s])color\s*:\s*(?:white|#fff(?:fff)?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))\s*(?:;|!|$)/i;

/** Whether something other than white may be behind an element, as far as can be seen. */
function hasBackground(element: PageElement): boolean {
  for (let at: PageElement | null = element; at !== null; at = at.parentElement)
    if (/background/i.test(at.getAttribute("style") ?? "") || at.hasAttribute("bgcolor")) return true;
  return false;
}

/** Declarations that leave nothing to see. */
const HIDING = [
  /(?:^|;)display:none/,
  /(?:^|;)visibility:(?:hidden|collapse)/,
  /(?:^|;)font-size:(?:0|[01](?:\.\d+)?px|0?\.\d+(?:px|pt|em|rem))(?:;|!|$)/,
  /(?:^|;)color:transparent/,
  /(?:^|;)(?:text-indent|margin-left|margin-top):-(?:\d{4,}|[5-9]\d\d)/,
  /(?:^|;)clip:rect\((?:0|1px)/,
  /(?:^|;)clip-path:inset\((?:50|100)%/,
  /(?:^|;)(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$).*overflow:hidden|overflow:hidden.*(?:^|;)(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)/,
];

/** Whether CSS declarations hide their element: its display, visibility, size, position or colour. */
function isHiding(declarations: string): boolean {
  const style = declarations.toLowerCase().replace(/\s+/g, "").slice(0, 2_000);
  if (HIDING.some((hiding) => hiding.test(style))) return true;
  const isOut = /(?:^|;)(?:left|right|top|bottom):-(?:\d{4,}|[5-9]\d\d)/.test(style);
  if (isOut && /(?:^|;)position:(?:absolute|fixed)/.test(style)) return true;
  // What fades in is shown by a program.
  if (/(?:^|;)opacity:0(?:\.0+)?(?:;|!|$)/.test(style) && !/transform|transition|animation/.test(style))
    return true;
  const [, colour] = /(?:^|;)color:([^;!]+)/.exec(style) ?? [];
  const [, background] = /(?:^|;)background(?:-color)?:([^;!]+)/.exec(style) ?? [];
  return colour !== undefined && colour === background;
}

/** The selectors of plain rules that hide: one element, class or id, outside any `@media`. */
function hidingSelectors(css: string): string[] {
  const selectors: string[] = [];
  let depth = 0;
  let at = 0;
  let prelude = "";
  const text = css.replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, "");
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    const part = text.slice(at, index);
    at = index + 1;
    if (brace === "{") {
      if (depth === 0) prelude = part;
      depth += 1;
      continue;
    }
    depth = Math.max(0, depth - 1);
    if (depth > 0 || /@/.test(prelude) || !isHiding(part)) continue;
    const plain = prelude.split(",").map((selector) => selector.trim());
    selectors.push(
      ...plain.filter((selector) => /^[a-z][\w-]*$|^[a-z\d]*(?:[.#][\w-]{1,100}){1,3}$/i.test(selector)),
    );
  }
  return selectors.filter((selector) => !/^(?:html|body)\b/i.test(selector)).slice(0, 500);
}

/** Menus and similar; the header of an article is part of it. */
export function removeFrame(document: PageDocument): void {
  for (const element of [...document.querySelectorAll(FRAME)])
    if (!/^(?:HEADER|FOOTER)$/.test(element.tagName) || element.closest("article, main") === null)
      element.remove();
}

/** The outermost elements whose class or id says that they are around the content. */
export function aroundContent(document: PageDocument): PageElement[] {
  const most = textOf(document.body).length * TOO_MUCH;
  const found: PageElement[] = [];
  // In the order of the document, so that what is inside the last one comes right after it.
  for (const element of document.body.querySelectorAll("[class], [id]"))
    if (!found.at(-1)?.contains(element) && isAround(element) && textOf(element).length < most)
      found.push(element);
  return found;
}

function isAround(element: PageElement): boolean {
  if (/^(?:BODY|MAIN|ARTICLE)$/.test(element.tagName)) return false;
  const names = `${element.getAttribute("class") ?? ""} ${element.id}`.slice(0, 500);
  return names
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => AROUND.has(word));
}

/** The page's `main`, if it is that; else its body. */
export function mainOf(document: PageDocument): PageElement {
  const all = textOf(document.body).length;
  for (const main of document.querySelectorAll("main, [role=main]")) {
    const { length } = textOf(main);
    if (length >= MAIN_CHARS && length >= all * MAIN_SHARE) return main;
  }
  return document.body;
}
