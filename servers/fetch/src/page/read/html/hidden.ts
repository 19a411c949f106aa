import { parseHTML } from "linkedom";
import { type PageDocument, type PageElement, textOf } from "./document.ts";
import { markAdmonitions, markNotes } from "./notes.ts";

/** Elements that have no text for a reader. Images and formulas are kept. */
const NOT_TEXT =
  "script, style, template, noscript, iframe, object, embed, svg, canvas, link, meta, title, base";
/** Attributes that hide an element. */
const HIDDEN_ATTRIBUTES = "[hidden], [aria-hidden=true]";
/** A page with fewer characters is almost empty. */
const NO_TEXT = 250;

/**
 * Removes invisible content: scripts, styles, and elements hidden by attributes or CSS. If nothing is left, `noscript`
 * is used: forums put their posts there for visitors without JavaScript. Then marks footnotes and boxes such as warnings.
 *
 * @returns whether hidden text was kept because the page would be almost empty without it.
 */
export function removeHiddenContent(document: PageDocument): boolean {
  const isLeft = removeInvisible(document);
  // Before they may be taken for navigation, and after what is hidden in them is gone.
  markNotes(document);
  markAdmonitions(document);
  return isLeft;
}

function removeInvisible(document: PageDocument): boolean {
  const css = [...document.querySelectorAll("style")]
    .map((style) => style.textContent ?? "")
    .join("\n");
  const isStyled =
    /background/i.test(css) || document.querySelector("link[rel~=stylesheet]") !== null;
  const fallbacks = [...document.querySelectorAll("noscript")]
    .filter((element) => element.parentElement?.closest("noscript") === null)
    .map((element) => element.innerHTML);
  for (const element of [...document.querySelectorAll(NOT_TEXT)]) element.remove();
  const isLeft = [removeHidden(document, isStyled), removeByRules(document, css)].includes(true);
  if (textOf(document.body).length >= NO_TEXT) return isLeft;
  const { document: fallback } = parseHTML(
    `<!doctype html><html><body>${fallbacks.join("\n")}</body></html>`,
  );
  if (textOf(fallback.body).length < NO_TEXT) return isLeft;
  for (const element of [...fallback.querySelectorAll(`${NOT_TEXT}, ${HIDDEN_ATTRIBUTES}`)])
    element.remove();
  document.body.append(...fallback.body.childNodes);
  return isLeft;
}

/** Longer CSS is not examined. */
const MAX_CSS = 200_000;
/** Rules that hide a larger share of a page are ignored, since a script will show it. */
const MAX_HIDDEN_SHARE = 0.2;

function removeHidden(document: PageDocument, isStyled: boolean): boolean {
  const hidden = [
    ...document.body.querySelectorAll(`[style], font[color], ${HIDDEN_ATTRIBUTES}`),
  ].filter((element) => {
    const style = styleOf(element);
    const color =
      COLOR.exec(style)?.[1] ??
      (element.localName === "font" ? element.getAttribute("color") : null);
    const isWhite = color && !isStyled && isInvisible(color, "white") && !hasBackground(element);
    return isWhite || isHiding(style) || element.matches(HIDDEN_ATTRIBUTES);
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
const styleOf = (element: PageElement): string =>
  (element.getAttribute("style") ?? "").slice(0, 2_000);

/** Whether an element's attributes may set a background other than white. */
function hasBackground(element: PageElement): boolean {
  for (let at: PageElement | null = element; at !== null; at = at.parentElement)
    if (/background/i.test(styleOf(at)) || at.hasAttribute("bgcolor")) return true;
  return false;
}

/** A distance that moves something out of any window; slides of carousels move by the window's width at most. */
const FAR = String.raw`-(?:\d{4,}|[5-9]\d\d)`;
/** Declarations that make an element invisible. */
const HIDING = [
  "display:none",
  "visibility:(?:hidden|collapse)",
  String.raw`font-size:(?:0%?|[01](?:\.\d+)?px|0?\.\d+(?:px|pt|em|rem))(?:;|!|$)`,
  `text-indent:${FAR}`,
].map((declaration) => new RegExp(`(?:^|;)${declaration}`));
const TINY = /(?:^|;)(?:max-)?(?:width|height):[01](?:px)?(?:;|!|$)/;
const OUT = new RegExp(`(?:^|;)(?:left|right|top|bottom):${FAR}`);
const TRANSPARENT = /(?:^|;)opacity:(?:0?(?:\.0\d*)?|[0-4](?:\.\d+)?%)(?:[;!]|$)/;

/** Whether CSS declarations hide their element: its display, visibility, size, position, opacity or color. */
function isHiding(declarations: string): boolean {
  const style = declarations.toLowerCase().replace(/\s+/g, "").slice(0, 2_000);
  if (HIDING.some((hiding) => hiding.test(style))) return true;
  if (TINY.test(style) && /overflow:(?:hidden|clip)/.test(style)) return true;
  if (OUT.test(style) && /(?:^|;)position:(?:absolute|fixed|relative)/.test(style)) return true;
  // What fades in is shown by a script.
  if (TRANSPARENT.test(style) && !/transition|animation|transform/.test(style)) return true;
  // The background shows through the letters.
  if (style.includes("background-clip:text")) return false;
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
      ...plain.filter((selector) =>
        /^[a-z][\w-]*$|^[a-z\d]*(?:[.#][\w-]{1,100}){1,3}$/i.test(selector),
      ),
    );
  }
  return selectors.filter((selector) => !/^(?:html|body)\b/i.test(selector)).slice(0, 500);
}

type Color = readonly [red: number, green: number, blue: number, alpha: number];

const NAMED: Readonly<Record<string, Color>> = {
  white: [255, 255, 255, 1],
  black: [0, 0, 0, 1],
  transparent: [0, 0, 0, 0],
};
/** Colors that differ less in each channel look the same. */
const NEAR = 8;

/** A CSS color in hexadecimal digits or as rgb(); undefined for others. */
function colorOf(css: string): Color | undefined {
  const text = css.trim().toLowerCase();
  if (NAMED[text] !== undefined) return NAMED[text];
  const [, digits] = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.exec(text) ?? [];
  if (digits !== undefined) {
    const pairs =
      digits.length < 6 ? [...digits].map((digit) => digit + digit) : (digits.match(/../g) ?? []);
    const [red = 0, green = 0, blue = 0, alpha = 255] = pairs.map((pair) =>
      Number.parseInt(pair, 16),
    );
    return [red, green, blue, alpha / 255];
  }
  const [, inside] = /^rgba?\(([^()]*)\)$/.exec(text) ?? [];
  if (inside === undefined) return undefined;
  const [red = 0, green = 0, blue = 0, alpha = 1] = inside
    .split(/[\s,/]+/)
    .filter((part) => part !== "")
    .map((part) => Number.parseFloat(part));
  return [red, green, blue, alpha];
}

/** Whether text of one color cannot be seen on a background of another, or on any if that is undefined. */
function isInvisible(text: string, background?: string): boolean {
  const color = colorOf(text);
  const behind = background === undefined ? undefined : colorOf(background);
  if (color !== undefined && color[3] < 0.05) return true;
  if (background !== undefined && text.trim() === background.trim()) return true;
  if (color === undefined || behind === undefined || behind[3] < 1) return false;
  return [0, 1, 2].every(
    (channel) => Math.abs((color[channel] ?? 0) - (behind[channel] ?? 0)) < NEAR,
  );
}
