/**
 * Formulas: all that a page shows them with (KaTeX, MathJax 2 to 4, images, MathML, TeX in its text) becomes one `math` element with
 * its TeX, byte for byte, before anything else reads the page. Of MathML without TeX only the text is left.
 */
import { type PageDocument, type PageElement, type PageNode, textOf } from "../content/document.ts";

/** What shows a formula. */
const FORMULAS =
  ".katex-display, .katex, .mwe-math-element, mjx-container, math, m\\:math, script[type^='math/'], .MathJax_Display, .MathJax, " +
  ".MathJax_SVG_Display, .MathJax_SVG, .MathJax_CHTML, .mjx-chtml, .MathJax_Preview, .math, .arithmatex, math-renderer, img[alt]";
/** A page without any of these is not searched. */
const HINT =
  /katex|<(?:m:)?math|<mjx-|math\/tex|["' _-](?:MathJax|mjx-|math|arithmatex|latex|tex|formula\w*)["' _=-]|alt=["'][^"'<>]*[\\$]/;
const RENDERER =
  /<(?:script|link)\b[^>]{0,500}(?:mathjax|katex)|MathJax(?:\.Hub|\s*=)|renderMathInElement|tex2jax/i;
/** A longer attribute or text is not one formula. */
const MAX_TEX = 20_000;
/** TeX whose delimiters, environment or class put it on a separate line. */
const DISPLAYED =
  /^\s*(?:\\\[|\$\$|\\begin\{(?:equation|align|gather|multline|eqnarray|displaymath))/;
const DISPLAY_MODE = /(?:^| |=)(?:block|true|display)(?: |$)|display|Dsp/;

/** Makes each formula of a page one `math` element, whose text is its TeX between `$`, or `$$` if it is displayed on a separate line. */
export function markFormulas(document: PageDocument, html: string): void {
  if (HINT.test(html))
    for (const element of document.body.querySelectorAll(FORMULAS))
      if (document.body.contains(element)) markElement(element, document);
  if (/\\[([]|\$|\\begin\{/.test(html)) markTexts(document, RENDERER.test(html));
}

function markElement(element: PageElement, document: PageDocument): void {
  const isMathml = /^(?:m:)?math$/.test(element.localName);
  const source = sourceOf(element);
  const tex = withoutDelimiters(source ?? "");
  // What MathJax 2 drew or previews, next to its script.
  if (source === undefined && /MathJax|mjx/.test(element.className) && isNextToScript(element))
    element.remove();
  if (tex === "" && !isMathml) return;
  const modes = ["display", "mode", "type", "class"].map((mode) => element.getAttribute(mode));
  const isDisplayed =
    DISPLAY_MODE.test(modes.join(" ")) ||
    element.querySelector("math[display=block]") !== null ||
    (element.localName === "img" && element.closest("div.math") !== null) ||
    DISPLAYED.test(source ?? "");
  const sign = isDisplayed ? "$$" : "$";
  const math = mathOf(tex === "" ? textOf(element) : sign + tex + sign, isDisplayed, document);
  // What hides the element still does.
  for (const { name, value } of element.localName === "script" ? [] : [...element.attributes])
    if (/^(?:id|class|style|hidden|aria-hidden)$/.test(name)) math.setAttribute(name, value);
  element.replaceWith(math);
}

function mathOf(text: string, isDisplayed: boolean, document: PageDocument): PageElement {
  const math = document.createElement("math");
  if (isDisplayed) math.setAttribute("display", "block");
  math.textContent = text;
  return math;
}

/** A text that is one formula. */
const WHOLE =
  /^\s*(?:\$[^$]+\$|\\\(.+\\\)|\\\[.+\\\]|\$\$.+\$\$|\\begin\{.+\}|\{\\displaystyle.+\})\s*$/s;
/** Classes of images of formulas. */
const DRAWN = /(?:^|[\s_-])(?:math|latex|tex|mwe-math\S*|formula(?:Inl|Dsp))(?:$|[\s_-])/;

/** The TeX of an element; undefined if it is not a formula, or has none. */
function sourceOf(element: PageElement): string | undefined {
  const { localName, className: name } = element;
  const text = element.textContent ?? "";
  if (localName === "script") return text;
  if (localName === "img") {
    const alt = element.getAttribute("alt") ?? "";
    const isTex = WHOLE.test(alt) || DRAWN.test(name) || /\\[a-z]{2,}\s*[{_^\\(]/i.test(alt);
    return isTex && alt.length <= MAX_TEX ? alt : undefined;
  }
  const source =
    element.querySelector('annotation[encoding*="tex" i]')?.textContent ??
    (element.querySelector("math[alttext]") ?? element).getAttribute("alttext") ??
    element.querySelector("[data-latex]")?.getAttribute("data-latex") ??
    element.querySelector("img[alt]")?.getAttribute("alt");
  if (source) return source;
  const isPlain = element.children.length === 0 && text.length <= MAX_TEX;
  const isRaw = /\b(?:inline|display|block)\b/.test(name) || WHOLE.test(text);
  const isWriter = localName === "math-renderer" || /(?:^| )(?:math|arithmatex)(?: |$)/.test(name);
  return isWriter && isPlain && isRaw ? text : undefined;
}

/** Whether MathJax 2 has the source of what it drew in the next element. */
const isNextToScript = (element: PageElement): boolean =>
  /Preview/.test(element.className) ||
  element.nextElementSibling?.getAttribute("type")?.startsWith("math/") === true;

/** TeX on one line, without its delimiters and the frames that MathJax and Wikipedia put around it. */
function withoutDelimiters(tex: string): string {
  const line = tex
    .slice(0, MAX_TEX)
    .replace(/^\s*%.*\n|(?<!\\)%\s*$/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const [, ...inner] =
    /^(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$([^$]*)\$|\{\\(?:displaystyle|textstyle) (.*)\})$/.exec(
      line,
    ) ?? [];
  return (inner.find((part) => part !== undefined) ?? line).trim();
}

const CODE = "pre, code, kbd, samp, tt, script, style, textarea, title, math";
const CLOSERS: Readonly<Record<string, string>> = { "\\(": "\\)", "\\[": "\\]", $$: "$$", $: "$" };
const OPENER =
  /\\\(|\\\[|\$\$|\\begin\{(?:equation|align|gather|multline|eqnarray|alignat|displaymath)\*?\}|\$(?![\s$])/g;
/** One dollar begins a formula only if it is not a price. */
const MAX_INLINE = 300;
/** DOM's constant for texts. */
const SHOW_TEXT = 4;

/** Marks TeX in the texts of a page, whose delimiters stay: a dollar begins one only where a script would render it. */
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
    for (const [start, end] of texSpans(text, hasRenderer)) {
      const tex = text.slice(start, end).replace(/\s+/g, " ");
      const math = mathOf(tex, hasRenderer && !/^(?:\\\(|\$(?!\$))/.test(tex), document);
      node.before(document.createTextNode(text.slice(at, start)), math);
      at = end;
    }
    if (at > 0) node.textContent = text.slice(at);
  }
}

/** Where TeX with its delimiters is in a text; linear, since each end is searched once. */
function texSpans(text: string, hasRenderer: boolean): [start: number, end: number][] {
  const spans: [number, number][] = [];
  const ends = new Map<string, number>();
  let at = 0;
  for (const { 0: opener, index } of text.matchAll(OPENER)) {
    if (index < at || text[index - 1] === "\\") continue;
    const closer = CLOSERS[opener] ?? opener.replace("begin", "end");
    let end = ends.get(closer) ?? 0;
    if (end !== -1 && end < index + opener.length)
      end = text.indexOf(closer, index + opener.length);
    ends.set(closer, end);
    if (end === -1) continue;
    const stop = end + closer.length;
    const isPrice =
      stop - index > MAX_INLINE || /\s/.test(text[end - 1] ?? "") || /\d/.test(text[stop] ?? "");
    if (opener === "$" && (!hasRenderer || isPrice)) continue;
    spans.push([index, stop]);
    at = stop;
  }
  return spans;
}
