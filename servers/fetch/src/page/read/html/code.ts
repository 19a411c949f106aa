import type { PageDocument, PageElement } from "./document.ts";

/** A `pre` with one of these is not only code. */
const NOT_CODE =
  "table, img, picture, video, audio, math, pre, ul, ol, dl, blockquote, form, h1, h2, h3, h4, h5, h6";

/**
 * Replaces the markup of highlighted code with its text. Readability drops spans by their class, and mdream drops spans
 * that contain only whitespace, such as a line's indentation.
 */
export function flattenCode(root: PageElement, document: PageDocument): void {
  for (const pre of root.querySelectorAll("pre")) {
    if (pre.querySelector(NOT_CODE) !== null) continue;
    const [code, ...others] = pre.querySelectorAll("code");
    const text = linesOf(pre)
      .replace(/^(?:[ \t]*\r?\n)+/, "")
      .trimEnd();
    // Its class names the language.
    const holder = code === undefined || others.length > 0 ? undefined : code.cloneNode(false);
    holder?.append(document.createTextNode(text));
    pre.replaceChildren(holder ?? document.createTextNode(text));
  }
  const spans = [...root.querySelectorAll("code span")];
  const changed = new Set(spans.map((span) => span.closest("code")));
  for (const span of spans) span.replaceWith(...span.childNodes);
  for (const code of changed) code?.normalize();
}

/** Classes of elements that each have one line, with or without a line break between them. */
const LINE = /(?:^|\s)(?:(?:code|token|view)-)?line(?:\s|$)/;

const isLine = (element: PageElement): boolean =>
  /^(?:DIV|P)$/.test(element.tagName) || LINE.test((element.getAttribute("class") ?? "").slice(0, 500));

/** The text of code, with a line break for `br` and between elements that are lines. */
function linesOf(pre: PageElement): string {
  const parts: string[] = [];
  let needsBreak = false;
  const add = (part: string): void => {
    if (needsBreak && !/^\r?\n/.test(part)) parts.push("\n");
    needsBreak = false;
    if (part !== "") parts.push(part);
  };
  const addAll = (element: PageElement): void => {
    for (const child of element.childNodes)
      if (child.nodeType === ELEMENT) addOne(child as PageElement);
      else if (child.nodeType === TEXT) add(child.textContent ?? "");
  };
  const addOne = (element: PageElement): void => {
    if (element.tagName === "BR") add("\n");
    else if (isLine(element)) {
      add("");
      const { length } = parts;
      addAll(element);
      needsBreak = parts.length === length || !parts.at(-1)?.endsWith("\n");
    } else addAll(element);
  };
  addAll(pre);
  return parts.join("");
}

/** The `nodeType` of elements and texts (the DOM standard). */
const ELEMENT = 1;
const TEXT = 3;
