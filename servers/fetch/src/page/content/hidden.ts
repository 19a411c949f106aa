/**
 * What a page hides from its readers is left out: text for machines only is where instructions to a model are hidden. It is
 * recognized by attributes, styles and plain rules of the page's own style sheets; README.md lists what is not.
 */
import { parseHTML } from "linkedom";
import { type PageDocument, type PageElement, textOf } from "./document.ts";

/** Elements that have no text for a reader. Images and formulas are kept. */
const NOT_TEXT =
  "script, style, template, noscript, iframe, object, embed, svg, canvas, link, meta, title, base";
/** Attributes that hide an element. */
const HIDDEN = "[hidden], [aria-hidden=true]";
/** A page with fewer characters is almost empty. */
const NO_TEXT = 250;
/** Longer CSS is not examined. */
const MAX_CSS = 200_000;
/** Rules that hide a larger share of a page are ignored, since a script will show it. */
const MAX_HIDDEN_SHARE = 0.2;

/**
 * Removes scripts, styles, and elements hidden by attributes or CSS. If nothing is left, `noscript` is used: Discourse puts the
 * posts of a thread there.
 *
 * @returns whether hidden text was kept because the page would be almost empty without it.
 */
export function removeHidden(document: PageDocument): boolean {
  const styles = [...document.querySelectorAll("style")].map((style) => style.textContent ?? "");
  const css = styles.join("\n");
  // A style sheet may set a background, on which white is visible.
  const isStyled =
    /background/i.test(css) || document.querySelector("link[rel~=stylesheet]") !== null;
  const fallbacks = [...document.querySelectorAll("noscript")].map((element) => element.innerHTML);
  for (const element of [...document.querySelectorAll(NOT_TEXT)]) element.remove();
  const isLeft = removeByAttributes(document, isStyled);
  const isIgnored = css.length <= MAX_CSS && removeByRules(document, css);
  if (textOf(document.body).length < NO_TEXT) appendFallback(document, fallbacks.join("\n"));
  return isLeft || isIgnored;
}

function appendFallback(document: PageDocument, html: string): void {
  const { document: fallback } = parseHTML(`<!doctype html><html><body>${html}</body></html>`);
  for (const element of [...fallback.querySelectorAll(`${NOT_TEXT}, ${HIDDEN}`)]) element.remove();
  if (textOf(fallback.body).length >= NO_TEXT) document.body.append(...fallback.body.childNodes);
}

function removeByAttributes(document: PageDocument, isStyled: boolean): boolean {
  const candidates = [...document.body.querySelectorAll(`[style], font[color], ${HIDDEN}`)];
  // The longest last: it is kept if it is the page's content.
  const hidden = candidates
    .filter((element) => element.matches(HIDDEN) || isHiddenByStyle(element, isStyled))
    .map((element) => ({ element, length: textOf(element).length }))
    .sort((first, second) => first.length - second.length);
  let seen = textOf(document.body).length;
  let isLeft = false;
  for (const { element } of hidden) {
    const { length } = textOf(element);
    if (length > NO_TEXT && seen - length < NO_TEXT) {
      // If almost nothing else is left, a script shows it when the page is ready.
      isLeft = true;
      element.removeAttribute("hidden");
      element.removeAttribute("aria-hidden");
    } else {
      seen -= length;
      element.remove();
    }
  }
  return isLeft;
}

function isHiddenByStyle(element: PageElement, isStyled: boolean): boolean {
  const color = element.localName === "font" ? element.getAttribute("color") : null;
  const style = color === null ? styleOf(element) : `color:${color};${styleOf(element)}`;
  return isHiding(style) || (!isStyled && WHITE.test(compact(style)) && !hasBackground(element));
}

/** The start of an element's style, so that a long one is not examined again for every descendant. */
const styleOf = (element: PageElement): string =>
  (element.getAttribute("style") ?? "").slice(0, 2_000);

/** Whether an element's attributes may set a background other than white. */
function hasBackground(element: PageElement): boolean {
  for (let at: PageElement | null = element; at !== null; at = at.parentElement)
    if (/background/i.test(styleOf(at)) || at.hasAttribute("bgcolor")) return true;
  return false;
}

/** Removes what plain rules hide. Returns whether they hide so much that a script will show it. */
function removeByRules(document: PageDocument, css: string): boolean {
  const selectors = hidingSelectors(css);
  if (selectors.length === 0) return false;
  const hidden = [...document.body.querySelectorAll(selectors.join(", "))];
  const chars = hidden.reduce((sum, element) => sum + textOf(element).length, 0);
  if (chars > textOf(document.body).length * MAX_HIDDEN_SHARE) return true;
  for (const element of hidden) element.remove();
  return false;
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
    selectors.push(...prelude.split(",").map((selector) => selector.trim()));
  }
  const isPlain = (selector: string): boolean =>
    /^[a-z][\w-]*$|^[a-z\d]*(?:[.#][\w-]{1,100}){1,3}$/i.test(selector) &&
    !/^(?:html|body)\b/i.test(selector);
  return selectors.filter(isPlain).slice(0, 500);
}

/** A distance that moves something out of any window; slides of carousels move by the window's width at most. */
const FAR = String.raw`-(?:\d{4,}|[5-9]\d\d)`;
/** Declarations that hide, without spaces, each with another that it needs or that it must not have. */
const HIDING: readonly {
  readonly by: string;
  readonly with?: RegExp;
  readonly without?: RegExp;
}[] = [
  { by: "display:none" },
  { by: "visibility:(?:hidden|collapse)" },
  { by: String.raw`font-size:(?:0%?|[01](?:\.\d+)?px|0?\.\d+(?:px|pt|em|rem))(?:;|!|$)` },
  { by: `text-indent:${FAR}` },
  { by: "(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)", with: /overflow:(?:hidden|clip)/ },
  { by: `(?:left|right|top|bottom):${FAR}`, with: /position:(?:absolute|fixed|relative)/ },
  {
    by: String.raw`opacity:(?:0?(?:\.0\d*)?|[0-4](?:\.\d+)?%)(?:[;!]|$)`,
    // What fades in is shown by a script.
    without: /transition|animation|transform/,
  },
  // The background may show through the letters.
  { by: "color:(?:transparent|rgba\\(.*,0\\)|#.{6}00)(?:[;!]|$)", without: /background-clip:text/ },
];
const PATTERNS = HIDING.map((rule) => ({ ...rule, by: new RegExp(`(?:^|;)${rule.by}`) }));

/** White, which cannot be seen where nothing sets a background. */
const WHITE =
  /(?:^|;)color:(?:white|#f[\da-f](?:f[\da-f]){2}|#fff|rgba?\(255[ ,]*255[ ,]*255[^)]*\))/;

/** Whether declarations hide their element: by its display, visibility, size, position, opacity or color. */
function isHiding(declarations: string): boolean {
  const style = compact(declarations);
  return PATTERNS.some(
    (rule) =>
      rule.by.test(style) &&
      (rule.with?.test(style) ?? true) &&
      !(rule.without?.test(style) ?? false),
  );
}

const compact = (declarations: string): string =>
  declarations
    .slice(0, 2_000)
    .toLowerCase()
    .replace(/\s*([:;,()])\s*/g, "$1")
    .trim();
