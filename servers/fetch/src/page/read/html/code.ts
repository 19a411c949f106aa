import { HEADINGS, type PageDocument, type PageElement, textOf } from "./document.ts";

/** A `pre` with one of these is not only code. */
const NOT_CODE =
  "table, img, picture, video, audio, math, ul, ol, dl, blockquote, form, h1, h2, h3, h4, h5, h6";

const MARKS = ["span", "code", "em", "i", "b", "strong", "var"]
  .map((name) => `code ${name}`)
  .join(", ");

/**
 * Writes as text what Readability would drop: code, and the boxes of task lists. Removes permalinks of headings, which
 * are known by the heading's id until Readability's preparation.
 */
export function writeFirst(root: PageElement, document: PageDocument): void {
  flattenCode(root, document);
  for (const box of root.querySelectorAll('li input[type="checkbox"]'))
    box.replaceWith(document.createTextNode(box.hasAttribute("checked") ? "[x] " : "[ ] "));
  for (const heading of root.querySelectorAll(HEADINGS))
    for (const link of heading.querySelectorAll('a[href^="#"]'))
      if (link.getAttribute("href") === `#${heading.id}` && textOf(link) !== textOf(heading))
        link.remove();
}

/**
 * Replaces the markup of highlighted code with its text. Readability drops spans by their class, and mdream drops spans
 * that contain only whitespace, such as a line's indentation.
 */
function flattenCode(root: PageElement, document: PageDocument): void {
  // rustdoc describes a result's traits in the middle of a signature.
  for (const tip of root.querySelectorAll(`:is(${HEADINGS}) .notable-traits`)) tip.remove();
  // Doxygen writes code as one element for each line, with tooltips between them.
  for (const box of root.querySelectorAll("div.fragment"))
    if (box.children.length > 0 && [...box.children].every(isLine)) {
      const pre = document.createElement("pre");
      pre.append(...box.childNodes);
      for (const number of pre.querySelectorAll(".lineno, .ttc")) number.remove();
      box.replaceWith(pre);
    }
  for (const inner of root.querySelectorAll("pre pre")) inner.replaceWith(...inner.childNodes);
  for (const pre of root.querySelectorAll("pre")) {
    if (pre.querySelector(NOT_CODE) !== null) continue;
    const [code, ...others] = pre.querySelectorAll("code");
    const text = linesOf(pre)
      .replace(/^(?:[ \t]*\r?\n)+/, "")
      .trimEnd();
    const isAlone = code !== undefined && others.length === 0;
    const language = languageOf(isAlone ? code : pre) ?? languageOf(pre);
    const holder = isAlone || language !== undefined ? document.createElement("code") : undefined;
    if (language !== undefined) holder?.setAttribute("class", `language-${language}`);
    holder?.append(document.createTextNode(text));
    pre.replaceChildren(holder ?? document.createTextNode(text));
  }
  // Markdown has no markup in code.
  const marks = [...root.querySelectorAll(MARKS)];
  const changed = new Set(marks.map((mark) => mark.parentElement?.closest("code")));
  for (const mark of marks) mark.replaceWith(...mark.childNodes);
  for (const code of changed) code?.normalize();
}

/** Names of languages that are classes without a prefix (rustdoc, Qt). */
const LANGUAGE =
  /(?:^|\s)(rust|cpp|python|java|js|javascript|typescript|json|bash|sh|sql|html|css|xml|ruby|go)(?:\s|$)/;
/** Highlighters' prefixes; "default" and "none" are not languages. */
const PREFIXED =
  /(?:^|\s)(?:language|lang|highlight-(?:source|text)|highlight|brush)[-:](?!(?:default|none|source)(?:\s|$))([\w+#.-]{1,30})/;

/** The language that the class of a block of code, or of one of the three elements around it, names. */
function languageOf(code: PageElement): string | undefined {
  let at: PageElement | null = code;
  for (let level = 0; level < 4 && at !== null; level++, at = at.parentElement) {
    const name = (at.getAttribute("class") ?? "").slice(0, 500);
    const language =
      PREFIXED.exec(name)?.[1] ?? (at.localName === "pre" ? LANGUAGE.exec(name)?.[1] : undefined);
    if (language !== undefined) return language === "python3" ? "python" : language;
  }
  return undefined;
}

/** Classes of elements that each have one line, with or without a line break between them. */
const LINE = /(?:^|\s)(?:(?:code|token|view)-)?line(?:\s|$)/;

const isLine = (element: PageElement): boolean =>
  /^(?:DIV|P)$/.test(element.tagName) ||
  LINE.test((element.getAttribute("class") ?? "").slice(0, 500));

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
