/**
 * Formulas: whatever a page shows one with (KaTeX, MathJax 2 to 4, MathML, images, TeX in its text) becomes one `math` element
 * with its TeX, before anything else reads the page.
 */

import type { PageDocument, PageElement, PageNode } from "../content/document.ts";
import { texOfMathml } from "./mathml.ts";

/** What shows a formula. */
const FORMULAS =
  ".katex-display, .katex, .mwe-math-element, mjx-container, math, m\\:math, script[type^='math/'], .MathJax_Display, .MathJax, " +
  ".MathJax_SVG_Display, .MathJax_SVG, .MathJax_CHTML, .mjx-chtml, .MathJax_Preview, [data-tex], [data-latex], [data-math], " +
  "[data-math-style], .ql-formula[data-value], [data-equation-content], .math, .arithmatex, math-renderer, img";
/** A page without any of these is not searched. */
const HINT =
  /katex|<(?:m:)?math|<mjx-|math\/tex|["' _-](?:MathJax|mjx-|math|arithmatex|latex|tex|formula\w*)["' _=-]|data-equation-content|alt=["'][^"'<>]*[\\$]/;
const RENDERER =
  /<(?:script|link)\b[^>]{0,500}(?:mathjax|katex)|MathJax(?:\.Hub|\s*=)|renderMathInElement|tex2jax/i;
/** A longer attribute or text is not one formula. */
const MAX_TEX = 20_000;
/** Attributes that carry a formula's source. */
const SOURCES = ["data-tex", "data-latex", "data-math", "data-equation-content", "data-value"];
const DISPLAYED =
  /^\s*(?:\\\[|\$\$|\\begin\{(?:equation|align|gather|multline|eqnarray|displaymath))/;

/** Makes each formula of a page one `math` element, whose text is its TeX between `$`, or `$$` if it is displayed on a separate line. */
export function markFormulas(document: PageDocument, html: string): void {
  if (HINT.test(html))
    for (const element of document.body.querySelectorAll(FORMULAS))
      if (document.body.contains(element)) markElement(element, document);
  if (/\\[([]|\$|\\begin\{/.test(html)) markTexts(document, RENDERER.test(html));
}

function markElement(element: PageElement, document: PageDocument): void {
  const { localName, className: name } = element;
  const tex = sourceOf(element);
  if (tex === undefined) return;
  // What MathJax 2 drew or previews, next to its script.
  if (tex === "" && /MathJax|mjx/.test(name)) element.remove();
  if (tex === "") return;
  const modes = ["display", "data-math-style", "mode", "type", "class"].map((mode) =>
    element.getAttribute(mode),
  );
  const isDisplayed =
    /(?:^| |=)(?:block|true|display)(?: |$)|display|Dsp/.test(modes.join(" ")) ||
    element.querySelector("math[display=block]") !== null ||
    (localName === "img" && element.closest("div.math") !== null) ||
    DISPLAYED.test(tex);
  const math = mathOf(normalized(tex), isDisplayed ? "$$" : "$", document);
  // What hides the element still does.
  for (const { name: attribute, value } of localName === "script" ? [] : [...element.attributes])
    if (/^(?:id|class|style|hidden|aria-hidden)$/.test(attribute))
      math.setAttribute(attribute, value);
  element.replaceWith(math);
}

function mathOf(tex: string, sign: string, document: PageDocument): PageElement {
  const math = document.createElement("math");
  if (sign === "$$") math.setAttribute("display", "block");
  math.textContent = tex === "" ? "" : sign + tex + sign;
  return math;
}

/** The TeX of an element; empty if another element has it, undefined if it is not a formula. */
function sourceOf(element: PageElement): string | undefined {
  const { localName, className: name } = element;
  if (localName === "img") return texOfImage(element, name);
  if (localName === "script") return element.textContent ?? "";
  const attribute = SOURCES.map((source) => element.getAttribute(source)).find(Boolean);
  const isOne = element.querySelector("p, div, table, ul") === null;
  if (attribute && attribute.length < MAX_TEX && isOne) return attribute;
  if (localName === "math-renderer" || /(?:^| )(?:math|arithmatex)(?: |$)/.test(name))
    if (localName !== "math") return plainTex(element, name);
  if (element.hasAttribute("data-math-style")) return element.textContent ?? "";
  return texInside(element, name);
}

/** The TeX that a drawn formula has next to it, or MathML as TeX. */
function texInside(element: PageElement, name: string): string | undefined {
  const isMath = /^(?:m:)?math$/.test(element.localName);
  const math = isMath ? element : element.querySelector("math");
  const source =
    element.querySelector('annotation[encoding*="tex" i]')?.textContent ??
    math?.getAttribute("alttext") ??
    element.querySelector("[data-latex]")?.getAttribute("data-latex") ??
    element.querySelector("img[alt]")?.getAttribute("alt");
  if (source) return source;
  if (math !== null) return texOfMathml(math);
  if (/katex/.test(name)) return undefined;
  // What MathJax 2 previews, next to its script.
  const isNext = element.nextElementSibling?.getAttribute("type")?.startsWith("math/") === true;
  return /Preview/.test(name) || isNext ? "" : undefined;
}

/** A text that is one formula. */
const WHOLE =
  /^\s*(?:\$[^$]+\$|\\\(.+\\\)|\\\[.+\\\]|\$\$.+\$\$|\\begin\{.+\}|\{\\displaystyle.+\})\s*$/s;
/** Classes of images of formulas. */
const DRAWN = /(?:^|[\s_-])(?:math|latex|tex|mwe-math\S*|formula(?:Inl|Dsp))(?:$|[\s_-])/;

/** The TeX of an image: its description, if that or the image's class says so. */
function texOfImage(image: PageElement, name: string): string | undefined {
  const alt = image.getAttribute("alt") ?? "";
  if (alt.length > MAX_TEX || alt.trim() === "") return undefined;
  const isTex = WHOLE.test(alt) || DRAWN.test(name) || /\\[a-z]{2,}\s*[{_^\\(]/i.test(alt);
  return isTex ? alt : undefined;
}

/** The TeX in an element for math that a script would render, unless its text has more than that. */
function plainTex(element: PageElement, name: string): string | undefined {
  const text = element.textContent ?? "";
  const isRaw = element.children.length === 0 && /\b(?:inline|display|block)\b/.test(name);
  return isRaw || (element.children.length === 0 && WHOLE.test(text)) ? text : undefined;
}

/** The TeX on one line without delimiters and comments. */
function normalized(tex: string): string {
  const line = tex
    .slice(0, MAX_TEX)
    .replace(/(?<!\\)%.*(?:\n|$)/g, (comment) => (comment.endsWith("\n") ? " " : comment))
    .replace(/\s+/g, " ")
    .trim();
  const inner = /^(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$([^$]*)\$)$/
    .exec(line)
    ?.slice(1)
    .find((part) => part !== undefined);
  const plain = (inner ?? line).trim();
  // Wikipedia's, around all.
  const style = /^\{\\(?:displaystyle|textstyle) (.*)\}$/.exec(plain)?.[1];
  return style === undefined || !isBalanced(style) ? plain : style.trim();
}

function isBalanced(tex: string): boolean {
  let depth = 0;
  for (const [sign] of tex.matchAll(/\\.|[{}]/g)) {
    if (sign === "{") depth += 1;
    if (sign === "}") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

const CODE = "pre, code, kbd, samp, tt, script, style, textarea, title, math";
const CLOSERS: Readonly<Record<string, string>> = { "\\(": "\\)", "\\[": "\\]", $$: "$$" };
const OPENER =
  /\\\(|\\\[|\$\$|\\begin\{(?:equation|align|gather|multline|eqnarray|alignat|displaymath)\*?\}|\$(?![\s$])/g;
/** One dollar begins a formula only if it is not a price. */
const MAX_INLINE = 300;

/** Marks TeX in the texts of a page: as formulas where a script would render it, otherwise unchanged. */
function markTexts(document: PageDocument, hasRenderer: boolean): void {
  // The parser makes a text of each entity.
  document.body.normalize();
  const walker = document.createTreeWalker(document.body, SHOW_TEXT);
  const texts: PageNode[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as PageNode);
  for (const node of texts) {
    const text = node.textContent ?? "";
    if (!/\\[([]|\$|\\begin\{/.test(text) || node.parentElement?.closest(CODE) != null) continue;
    let at = 0;
    for (const { start, end, opener } of texSpans(text, hasRenderer)) {
      const tex = text.slice(start, end);
      const sign = opener === "\\(" ? "$" : "$$";
      const isFormula = hasRenderer && opener !== "$";
      const math = isFormula ? mathOf(normalized(tex), sign, document) : mathOf(tex, "", document);
      node.before(document.createTextNode(text.slice(at, start)), math);
      at = end;
    }
    if (at > 0) node.textContent = text.slice(at);
  }
}

/** DOM's constant for texts. */
const SHOW_TEXT = 4;

/** Where TeX with its delimiters is in a text; linear, since each end is searched once. */
function texSpans(text: string, hasRenderer: boolean) {
  const spans: { start: number; end: number; opener: string }[] = [];
  const ends = new Map<string, number>();
  let at = 0;
  for (const { 0: opener, index } of text.matchAll(OPENER)) {
    if (index < at || text[index - 1] === "\\") continue;
    const closer = CLOSERS[opener] ?? (opener === "$" ? "$" : opener.replace("begin", "end"));
    let end = ends.get(closer) ?? 0;
    if (end !== -1 && end < index + opener.length)
      end = text.indexOf(closer, index + opener.length);
    ends.set(closer, end);
    if (end === -1) continue;
    const stop = end + closer.length;
    const isPrice =
      stop - index > MAX_INLINE || /\s/.test(text[end - 1] ?? "") || /\d/.test(text[stop] ?? "");
    if (opener === "$" && (!hasRenderer || isPrice)) continue;
    spans.push({ start: index, end: stop, opener });
    at = stop;
  }
  return spans;
}
