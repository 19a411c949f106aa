import type { PageDocument, PageElement } from "./document.ts";
import { texOfMathml } from "./mathml.ts";
import { verbatim, withoutVerbatim } from "./verbatim.ts";

type PageText = PageElement["childNodes"][number];

/** What shows a formula: KaTeX, MathJax 2 to 4 with their source, MathML, and elements or images that carry their TeX. */
const FORMULAS =
  ".katex-display, .katex, .mwe-math-element, mjx-container, math, m\\:math, script[type^='math/'], .MathJax_Display, .MathJax, " +
  ".MathJax_SVG_Display, .MathJax_SVG, .MathJax_CHTML, .mjx-chtml, .MathJax_Preview, [data-tex], [data-latex], [data-math], " +
  "[data-math-style], .ql-formula[data-value], [data-equation-content], .math, .arithmatex, math-renderer, img";
/** A page without any of these is not searched. */
const HINT =
  /katex|<(?:m:)?math|<mjx-|math\/(?:tex|mml)|["' _-](?:MathJax|mjx-|math|arithmatex|latex|tex|formula\w*)["' _=-]|data-equation-content|codecogs|latex\.php|cht=tx|alt=["'][^"'<>]*[\\$]/;
const RENDERER =
  /<(?:script|link)\b[^>]{0,500}(?:mathjax|katex)|MathJax(?:\.Hub|\s*=)|renderMathInElement|tex2jax/i;
const CODE = "pre, code, kbd, samp, tt, script, style, textarea, title";
/** A longer attribute or text is not one formula. */
const MAX_TEX = 20_000;

/** Replaces a page's formulas by their TeX, as `$…$` or on separate lines `$$…$$`. */
export function replaceFormulas(document: PageDocument, html: string): void {
  // A page could otherwise write Markdown by characters that nobody sees.
  if (/\udbff|&#(?:x0*10ff|0*1113[89])/i.test(html))
    for (const node of textsIn(document))
      node.textContent = withoutVerbatim(node.textContent ?? "");
  if (HINT.test(html))
    for (const element of document.body.querySelectorAll(FORMULAS))
      if (document.body.contains(element)) replaceFormula(element, document);
  if (!/\\[([]|\$|\\begin\{/.test(html)) return;
  const hasRenderer = RENDERER.test(html);
  for (const node of textsIn(document)) protect(node, hasRenderer, document);
}

function textsIn(document: PageDocument): PageText[] {
  // The parser makes a text of each entity.
  document.body.normalize();
  const walker = document.createTreeWalker(document.body, SHOW_TEXT);
  const texts: PageText[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as PageText);
  return texts;
}

/** DOM's constant for texts. */
const SHOW_TEXT = 4;

const DISPLAYED =
  /^\s*(?:\\\[|\$\$|\\begin\{(?:equation|align|gather|multline|eqnarray|displaymath))/;

function replaceFormula(element: PageElement, document: PageDocument): void {
  const { localName, className: name } = element;
  const tex = sourceOf(element);
  if (tex === undefined) return;
  // What MathJax 2 drew or previews, next to its script.
  if (tex === "" && /MathJax|mjx/.test(name)) element.remove();
  if (tex === "") return;
  const modes = ["display", "data-math-style", "mode", "type", "class"].map((mode) =>
    element.getAttribute(mode),
  );
  const isDisplay =
    /(?:^| |=)(?:block|true|display)(?: |$)|display|Dsp/.test(modes.join(" ")) ||
    element.querySelector("math[display=block]") !== null ||
    (localName === "img" && element.closest("div.math") !== null) ||
    DISPLAYED.test(tex);
  const formula = document.createElement("span");
  // What hides the element still does.
  for (const { name: attribute, value } of localName === "script" ? [] : [...element.attributes])
    if (/^(?:id|class|style|hidden|aria-hidden)$/.test(attribute))
      formula.setAttribute(attribute, value);
  put(element, formula, tex, isDisplay, document);
}

/** The TeX of an element; empty if another element has it, undefined if it is not a formula. */
function sourceOf(element: PageElement): string | undefined {
  const { localName, className: name } = element;
  const alt = element.getAttribute("alt") ?? "";
  if (localName === "img") return isTexImage(element, name, alt) ? alt : texInAddress(element);
  if (localName === "script") {
    const text = element.textContent ?? "";
    return /mml/.test(element.getAttribute("type") ?? "") ? parsed(text, element) : text;
  }
  for (const attribute of [
    "data-tex",
    "data-latex",
    "data-math",
    "data-equation-content",
    "data-value",
  ]) {
    const tex = element.getAttribute(attribute);
    if (tex && tex.length < MAX_TEX && element.querySelector("p, div, table, ul") === null)
      return tex;
  }
  if (
    localName === "math-renderer" ||
    (/(?:^| )(?:math|arithmatex)(?: |$)/.test(name) && localName !== "math")
  )
    return plainSource(element, name);
  if (element.hasAttribute("data-math-style")) return element.textContent ?? "";
  const math =
    localName === "math" || localName === "m:math" ? element : element.querySelector("math");
  const image = element.querySelector("img[alt]");
  const source =
    element.querySelector('annotation[encoding*="tex" i]')?.textContent ??
    math?.getAttribute("alttext") ??
    element.querySelector("[data-latex]")?.getAttribute("data-latex") ??
    image?.getAttribute("alt");
  if (source) return source;
  if (math !== null) return texOfMathml(math);
  if (/katex/.test(name)) return undefined;
  const next = element.nextElementSibling;
  const inner = element.hasAttribute("data-mathml")
    ? element
    : element.querySelector("[data-mathml]");
  if (/Preview/.test(name) || next?.getAttribute("type")?.startsWith("math/")) return "";
  return inner === null ? undefined : parsed(inner.getAttribute("data-mathml") ?? "", element);
}

/** The TeX of MathML as text. */
function parsed(mathml: string, { ownerDocument }: PageElement): string {
  const holder = ownerDocument.createElement("div");
  holder.innerHTML = mathml.slice(0, MAX_TEX * 5);
  const math = holder.querySelector("math");
  return math === null ? "" : (math.getAttribute("alttext") ?? texOfMathml(math));
}

/** Whether the alternative text of an image is TeX, by the image's class or address, or by its delimiters. */
function isTexImage(image: PageElement, name: string, alt: string): boolean {
  if (alt.length > MAX_TEX || alt.trim() === "") return false;
  return (
    WHOLE.test(alt) ||
    /(?:^|[\s_-])(?:math|latex|tex|mwe-math\S*|formula(?:Inl|Dsp))(?:$|[\s_-])/.test(name) ||
    /\\[a-z]{2,}\s*[{_^\\(]/i.test(alt) ||
    texInAddress(image) !== undefined
  );
}

/** The TeX that a service draws from an image's address. */
function texInAddress(image: PageElement): string | undefined {
  const src = (image.getAttribute("src") ?? "").slice(0, MAX_TEX);
  const [, tex] =
    /(?:codecogs\.com\/[^?]*\?|latex\.php\?latex=|[?&]cht=tx&chl=)(.+)$/.exec(src) ?? [];
  try {
    return tex && decodeURIComponent(tex.replace(/\+/g, " "));
  } catch {
    return undefined;
  }
}

/** A text that is one formula. */
const WHOLE =
  /^\s*(?:\$[^$]+\$|\\\(.+\\\)|\\\[.+\\\]|\$\$.+\$\$|\\begin\{.+\}|\{\\displaystyle.+\})\s*$/s;

/** The TeX in an element for math that a script would render, unless its text has more than that. */
function plainSource(element: PageElement, name: string): string | undefined {
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
    .find((one) => one !== undefined);
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

/** Puts a formula, in an element or as a text, in place of what the page has. */
function put(
  place: PageElement | PageText,
  formula: PageElement | PageText,
  tex: string,
  isDisplay: boolean,
  document: PageDocument,
): void {
  const isCell = place.parentElement?.closest("td, th") != null;
  const line = normalized(tex);
  // A bar would end the cell of a Markdown table.
  const plain = isCell ? line.replace(/\\\|\s*/g, "\\Vert ").replace(/\|\s*/g, "\\vert ") : line;
  if (plain === "") return;
  const sign = isDisplay ? "$$" : "$";
  formula.textContent = verbatim(`${sign}${plain}${sign}`);
  if (place !== formula) {
    place.before(formula);
    place.remove();
  }
  if (!isDisplay || isCell) return;
  for (const side of ["previousSibling", "nextSibling"] as const) {
    let next = formula[side];
    while (next !== null && next.nodeType === 3 && next.textContent?.trim() === "")
      next = next[side];
    if (
      next === null ||
      next.nodeName === "BR" ||
      /^(?:P|DIV|UL|OL|TABLE|PRE|H\d)$/.test(next.nodeName)
    )
      continue;
    if (next.nodeType === 3) {
      const text = next.textContent ?? "";
      next.textContent = side === "previousSibling" ? text.trimEnd() : text.trimStart();
    }
    const br = document.createElement("br");
    if (side === "previousSibling") formula.before(br);
    else formula.after(br);
  }
}

const CLOSERS: Readonly<Record<string, string>> = { "\\(": "\\)", "\\[": "\\]", $$: "$$" };
const OPENER =
  /\\\(|\\\[|\$\$|\\begin\{(?:equation|align|gather|multline|eqnarray|alignat|displaymath)\*?\}|\$(?![\s$])/g;
/** One dollar begins a formula only if it is not a price. */
const MAX_INLINE = 300;

/** Keeps TeX in a text from being escaped; where a script would render it, with the usual delimiters. */
function protect(node: PageText, hasRenderer: boolean, document: PageDocument): void {
  const text = node.textContent ?? "";
  if (!/\\[([]|\$|\\begin\{/.test(text) || node.parentElement?.closest(CODE) != null) return;
  let at = 0;
  const ends = new Map<string, number>();
  for (const { 0: opener, index } of text.matchAll(OPENER)) {
    if (index < at || text[index - 1] === "\\") continue;
    const closer = CLOSERS[opener] ?? (opener === "$" ? "$" : opener.replace("begin", "end"));
    // Each end is searched once, which keeps this linear.
    let end = ends.get(closer) ?? 0;
    if (end !== -1 && end < index + opener.length)
      end = text.indexOf(closer, index + opener.length);
    ends.set(closer, end);
    if (end === -1) continue;
    const stop = end + closer.length;
    const isOne = opener === "$";
    if (
      isOne &&
      (!hasRenderer ||
        stop - index > MAX_INLINE ||
        /\s/.test(text[end - 1] ?? "") ||
        /\d/.test(text[stop] ?? ""))
    )
      continue;
    const before = document.createTextNode(text.slice(at, index));
    const formula = document.createTextNode(verbatim(text.slice(index, stop)));
    node.before(before, formula);
    if (hasRenderer && !isOne)
      put(formula, formula, text.slice(index, stop), opener !== "\\(", document);
    at = stop;
  }
  if (at > 0) node.textContent = text.slice(at);
}
