/**
 * The text of code, byte for byte, without the markup of a highlighter, and its language. Markdown has no
 * markup in code.
 */
import { classOf, isElement, isText, type PageElement } from "../content/document.ts";

/** A block of code. */
interface Code {
  readonly text: string;
  readonly language: string | undefined;
}

/** A `pre` with one of these is not only code. */
const NOT_CODE =
  "table, img, picture, video, audio, ul, ol, dl, blockquote, form, h1, h2, h3, h4, h5, h6";

/** The code of a `pre`, or of what Doxygen has instead; undefined for other elements. */
export function codeIn(element: PageElement): Code | undefined {
  if (element.localName === "pre" ? element.querySelector(NOT_CODE) !== null : !isLines(element))
    return undefined;
  const text = linesOf(element)
    .replace(/^(?:[ \t]*\r?\n)+/, "")
    .trimEnd();
  const [code, ...others] = element.querySelectorAll("code");
  const language = others.length === 0 && code !== undefined ? languageOf(code) : undefined;
  return { text, language: language ?? languageOf(element) };
}

/** Doxygen writes code as one element for each line, with numbers and tooltips between them. */
const isLines = (element: PageElement): boolean =>
  element.localName === "div" &&
  /(?:^|\s)fragment(?:\s|$)/.test(classOf(element)) &&
  element.children.length > 0 &&
  [...element.children].every(isLine);
const NOT_TYPED = /(?:^|\s)(?:lineno|ttc)(?:\s|$)/;

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
    const name = classOf(at);
    const language =
      PREFIXED.exec(name)?.[1] ?? (at.localName === "pre" ? LANGUAGE.exec(name)?.[1] : undefined);
    if (language !== undefined) return language === "python3" ? "python" : language;
  }
  return undefined;
}

/** Classes of elements that each have one line, with or without a line break between them. */
const LINE = /(?:^|\s)(?:(?:code|token|view)-)?line(?:\s|$)/;
const isLine = (element: PageElement): boolean =>
  /^(?:div|p)$/.test(element.localName) || LINE.test(classOf(element));

/** The text of code, with a line break for `br` and between elements that are lines. */
function linesOf(code: PageElement): string {
  const parts: string[] = [];
  let needsBreak = false;
  const add = (part: string): void => {
    if (needsBreak && !/^\r?\n/.test(part)) parts.push("\n");
    needsBreak = false;
    if (part !== "") parts.push(part);
  };
  const addAll = (element: PageElement): void => {
    for (const child of element.childNodes)
      if (isText(child)) add(child.textContent ?? "");
      else if (isElement(child)) addElement(child);
  };
  const addElement = (element: PageElement): void => {
    if (NOT_TYPED.test(classOf(element))) return;
    if (element.localName === "br") add("\n");
    else if (isLine(element)) {
      add("");
      const { length } = parts;
      addAll(element);
      needsBreak = parts.length === length || !parts.at(-1)?.endsWith("\n");
    } else addAll(element);
  };
  addAll(code);
  return parts.join("");
}
