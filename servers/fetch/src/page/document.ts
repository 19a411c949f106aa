import { parseHTML } from "linkedom";
import { isInvisible } from "./color.ts";
import { slugOf } from "./outline.ts";

export type PageDocument = ReturnType<typeof parseHTML>["document"];
export type PageElement = NonNullable<ReturnType<PageDocument["querySelector"]>>;

/** Elements that have no text for a reader. Images and formulas are kept. */
const DEAD = "script, style, template, noscript, iframe, object, embed, svg, canvas, link, meta, title, base";
/** Attributes that hide an element. */
const UNSEEN = "[hidden], [aria-hidden=true]";
/** Elements and roles that are navigation or otherwise not content. */
const FRAME =
  "nav, header, footer, aside, dialog, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], [role=menu], [role=menubar], [role=dialog], [role=alertdialog]";
/** Words in a class or id that mark navigation, ads and similar. */
const AROUND = new Set(
  (
    "ad ads advert advertisement breadcrumb breadcrumbs consent cookie cookies copyright drawer footer gdpr login " +
    "masthead megamenu menu modal nav navbar navigation newsletter offcanvas onetrust outbrain overlay pager pagination " +
    "popup promo recommendations recommended related share sharedaddy sharing sidebar signin signup skip social subscribe " +
    "subscription taboola toc"
  ).split(" "),
);
export const HEADINGS = "h1, h2, h3, h4, h5, h6";
/** An element with at least this share of the page's text is content, whatever its class. */
const TOO_MUCH = 0.4;
/** A `main` with a smaller share of the page's text, or with less text, is not the entire content. */
const MAIN_SHARE = 0.3;
const MAIN_CHARS = 200;

/**
 * Parses a page with all its content in one body, as the HTML standard does: linkedom leaves elements where they are,
 * so content outside the body would be lost. It also skips CDATA sections, which HTML has only in SVG and MathML.
 * Streamed parts are moved into place.
 */
export function parsePage(html: string): PageDocument {
  const content = html.replace(
    /<!doctype[^<>]*>|<\/?(?:html|head|body)(?:\s[^<>]*)?>|<!\[CDATA\[|\]\]>/gi,
    "",
  );
  const { document } = parseHTML(`<!doctype html><html><head></head><body>${content}</body></html>`);
  // React streams late content as hidden elements at the end: S:1 replaces the template B:1.
  const streamed = html.includes('id="S:') ? [...document.querySelectorAll('div[hidden][id^="S:"]')] : [];
  const templates = streamed.length === 0 ? [] : [...document.querySelectorAll('template[id^="B:"]')];
  const places = new Map(templates.map((template) => [template.id.slice(1), template]));
  for (const part of streamed) {
    const place = places.get(part.id.slice(1));
    if (place === undefined) part.removeAttribute("hidden");
    else place.replaceWith(...part.childNodes);
    places.delete(part.id.slice(1));
  }
  return document;
}

/** An element's text, with every run of whitespace as one space. */
export function textOf(element: { textContent: string | null }): string {
  return (element.textContent ?? "").replace(/\s+/g, " ").trim();
}

/** A page with fewer characters is almost empty. */
const NO_TEXT = 250;

/**
 * Removes invisible content: scripts, styles, and elements hidden by attributes or CSS. If nothing is left, `noscript`
 * is used: forums put their posts there for visitors without JavaScript.
 *
 * @returns whether hidden text was kept because the page would be almost empty without it.
 */
export function removeUnseen(document: PageDocument): boolean {
  const css = [...document.querySelectorAll("style")].map((style) => style.textContent ?? "").join("\n");
  const isStyled = /background/i.test(css) || document.querySelector("link[rel~=stylesheet]") !== null;
  const fallbacks = [...document.querySelectorAll("noscript")]
    .filter((element) => element.parentElement?.closest("noscript") === null)
    .map((element) => element.innerHTML);
  for (const element of [...document.querySelectorAll(DEAD)]) element.remove();
  const isLeft = [removeHidden(document, isStyled), removeByRules(document, css)].includes(true);
  if (textOf(document.body).length >= NO_TEXT) return isLeft;
  const { document: fallback } = parseHTML(
    `<!doctype html><html><body>${fallbacks.join("\n")}</body></html>`,
  );
  if (textOf(fallback.body).length < NO_TEXT) return isLeft;
  for (const element of [...fallback.querySelectorAll(`${DEAD}, ${UNSEEN}`)]) element.remove();
  document.body.append(...fallback.body.childNodes);
  return isLeft;
}

/** Longer CSS is not examined. */
const MAX_CSS = 200_000;
/** Rules that hide a larger share of a page are ignored, since a script will show it. */
const MAX_HIDDEN_SHARE = 0.2;

function removeHidden(document: PageDocument, isStyled: boolean): boolean {
  const hidden = [...document.body.querySelectorAll(`[style], font[color], ${UNSEEN}`)].filter((element) => {
    const style = styleOf(element);
    const color =
      COLOR.exec(style)?.[1] ?? (element.localName === "font" ? element.getAttribute("color") : null);
    const isWhite = color && !isStyled && isInvisible(color, "white") && !hasBackground(element);
    return isWhite || isHiding(style) || element.matches(UNSEEN);
  });
  // The longest last: it is kept if it is the page's content.
  const ascending = hidden
    .map((element) => ({ element, length: textOf(element).length }))
    .sort((one, other) => one.length - other.length);
  let seen = textOf(document.body).length;
  let isLeft = false;
  for (const { element } of ascending) {
    const { length } = textOf(element);
    // If almost nothing else is left, a script shows it when the page is ready.
    if (length > NO_TEXT && seen - length < NO_TEXT) {
      isLeft = true;
      element.removeAttribute("hidden");
      element.removeAttribute("aria-hidden");
      continue;
    }
    seen -= length;
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

const COLOR = /(?:^|;)\s*color\s*:([^;!]{1,100})/i;
const BACKGROUND = /(?:^|;)\s*background(?:-color)?\s*:([^;!]{1,100})/i;

/** The start of an element's style, so that a long one is not examined again for every descendant. */
const styleOf = (element: PageElement): string => (element.getAttribute("style") ?? "").slice(0, 2_000);

/** Whether an element's attributes may set a background other than white. */
function hasBackground(element: PageElement): boolean {
  for (let at: PageElement | null = element; at !== null; at = at.parentElement)
    if (/background/i.test(styleOf(at)) || at.hasAttribute("bgcolor")) return true;
  return false;
}

/** Declarations that make an element invisible. */
const HIDING = [
  /(?:^|;)display:none/,
  /(?:^|;)visibility:(?:hidden|collapse)/,
  /(?:^|;)font-size:(?:0|[01](?:\.\d+)?px|0?\.\d+(?:px|pt|em|rem))(?:;|!|$)/,
  /(?:^|;)(?:text-indent|margin-left|margin-top):-(?:\d{4,}|[5-9]\d\d)/,
  /(?:^|;)text-indent:\d{3,}%/,
  /(?:^|;)letter-spacing:-(?:[1-9]|0?\.[5-9]\d*em)/,
  /(?:^|;)clip:rect\((?:0|1px)/,
  /(?:^|;)clip-path:(?:inset\((?:50|100)%|circle\(0)/,
  /(?:^|;)content-visibility:hidden/,
  /(?:^|;)zoom:0?\.0/,
];
/** The same, unless an animation ends it: elements that fade or grow are shown by a script. */
const FADING = [
  /(?:^|;)(?:opacity:|filter:opacity\()0?(?:\.0\d*)?(?:[;!)]|$)/,
  /(?:^|;)transform:scale\(0(?:\.0+)?[,)]/,
];

/** Whether CSS declarations hide their element: its display, visibility, size, position or color. */
function isHiding(declarations: string): boolean {
  const style = declarations.toLowerCase().replace(/\s+/g, "").slice(0, 2_000);
  if (HIDING.some((hiding) => hiding.test(style))) return true;
  const isTiny = /(?:^|;)(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)/.test(style);
  if (isTiny && style.includes("overflow:hidden")) return true;
  const isOut = /(?:^|;)(?:left|right|top|bottom):-(?:\d{4,}|[5-9]\d\d|[1-9]\d\dv[hw])/.test(style);
  if (isOut && /(?:^|;)position:(?:absolute|fixed)/.test(style)) return true;
  const [opacity, scale] = FADING.map((fading) => fading.test(style) && !/transition|animation/.test(style));
  if ((opacity && !style.includes("transform")) || scale) return true;
  const start = declarations.slice(0, 2_000);
  const [, color] = COLOR.exec(start) ?? [];
  return color !== undefined && isInvisible(color, BACKGROUND.exec(start)?.[1]);
}

/** The selectors of plain rules that hide: one element, class or id, outside any `@media`. */
function hidingSelectors(css: string): string[] {
  const selectors: string[] = [];
  let depth = 0;
  let at = 0;
  let prelude = "";
  // A comment without an end takes the rest (CSS Syntax 4.3.2), which also keeps this linear.
  const text = css.replace(/\/\*.*?(?:\*\/|$)/gs, "");
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

/** Removes menus and similar elements, except around `kept`; an article keeps its header. */
export function removeFrame(document: PageDocument, kept?: PageElement): void {
  for (const element of [...document.querySelectorAll(FRAME)])
    if (
      (!/^(?:HEADER|FOOTER)$/.test(element.tagName) || element.closest("article, main") === null) &&
      !(kept && element.contains(kept))
    )
      element.remove();
}

/** The outermost elements whose class or id marks them as navigation, ads or similar. */
export function aroundContent(document: PageDocument): PageElement[] {
  const most = textOf(document.body).length * TOO_MUCH;
  const found: PageElement[] = [];
  // In document order, so the descendants of a match come right after it.
  for (const element of document.body.querySelectorAll("[class], [id]"))
    if (
      !found.at(-1)?.contains(element) &&
      isAround(element) &&
      textOf(element).length < most &&
      !isTitle(element) &&
      !isSection(element)
    )
      found.push(element);
  return found;
}

/** Whether an element is most of its heading: Sphinx marks links in headings as "toc-backref". */
function isTitle(element: PageElement): boolean {
  const heading = element.parentElement?.closest(HEADINGS);
  return heading !== null && heading !== undefined && textOf(element).length > textOf(heading).length / 2;
}

/** Whether an id is the heading of its element: Sphinx gives "Sharing the code" the id "sharing-the-code". */
function isSection(element: PageElement): boolean {
  if (element.id === "") return false;
  const heading = /^H[1-6]$/.test(element.tagName) ? element : element.querySelector(HEADINGS);
  return heading !== null && slugOf(textOf(heading).slice(0, 500)) === slugOf(element.id);
}

function isAround(element: PageElement): boolean {
  if (/^(?:BODY|MAIN|ARTICLE)$/.test(element.tagName)) return false;
  // Ids such as "method.skip" and "skip(long)" name parts of a program.
  const id = /[.(]/.test(element.id) ? "" : element.id;
  const names = `${element.getAttribute("class") ?? ""} ${id}`.slice(0, 500);
  return names
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => AROUND.has(word));
}

/** The page's `main` if it has most of the content, otherwise the body. */
export function mainOf(document: PageDocument): PageElement {
  const all = textOf(document.body).length;
  for (const main of document.querySelectorAll("main, [role=main]")) {
    const { length } = textOf(main);
    if (length >= MAIN_CHARS && length >= all * MAIN_SHARE) return main;
  }
  return document.body;
}
