/** Boxes of documentation, such as notes and warnings, which become what GitHub calls alerts: quotes that begin with `[!NOTE]`. */
import { classOf, isHeading, type PageDocument, type PageElement, textOf } from "./document.ts";

export interface Box {
  /** One of GitHub's five. */
  readonly kind: string;
  /** The title, if it says more than the kind. */
  readonly title: string | undefined;
  /** What is in the box; its title is removed from the page. */
  readonly content: PageElement;
}

const KINDS = new Map(
  Object.entries({
    NOTE: "note info information seealso remark abstract summary todo",
    TIP: "tip hint success",
    IMPORTANT: "important attention",
    WARNING: "warning",
    CAUTION: "caution danger error bug failure",
  }).flatMap(([kind, words]) => words.split(" ").map((word): [string, string] => [word, kind])),
);
const kindOf = (text: string): string | undefined =>
  KINDS.get(text.toLowerCase().replace(/[^a-z]+/g, ""));

const BOXES =
  "div[class], aside[class], section[class], blockquote[class], details[class], dl[class]";
/** Classes that generators of documentation write. */
const NAMED =
  /(?:^|[\s_-])(?:admonition|admonitionblock|callout|markdown-alert|custom-block|starlight-aside|blockquote-tag|hint)(?:$|[\s_-])|^\s*(?:note|tip|important|warning|caution)\s*$/;
/** Titles of boxes whose class is the word alone, or with others that say nothing. */
const TITLES = /^(?:note|tip|hint|important|attention|warning|caution|danger|see also)\W*$/i;
/** A longer element is not a box, but a part of the page with such a name. */
const MAX_CHARS = 5_000;

/** The boxes of a page. */
export function boxesIn(document: PageDocument): Map<PageElement, Box> {
  const boxes = new Map<PageElement, Box>();
  let last: PageElement | undefined;
  for (const element of document.body.querySelectorAll(BOXES)) {
    const name = `${classOf(element)} ${element.getAttribute("data-callout") ?? ""}`.toLowerCase();
    const isNamed = NAMED.test(name.trim());
    const words = name.split(/[\s_-]+/).map((word) => KINDS.get(word));
    const kind = words.find((word) => word !== undefined) ?? (isNamed ? "NOTE" : undefined);
    // Parts of a box have its name too.
    if (kind === undefined || last?.contains(element)) continue;
    if (textOf(element).length > MAX_CHARS) continue;
    const title = titleIn(element);
    const text = title === undefined ? "" : textOf(title);
    const isTitled = title !== undefined && !/^h[12]$/.test(title.localName) && TITLES.test(text);
    if (!isNamed && !isTitled) continue;
    if (title === undefined && /title|content|icon|body/.test(name)) continue;
    const own = kindOf(text) ?? kind;
    const isKind = text === "" || text.toUpperCase().replace(/\W+$/, "") === own;
    title?.remove();
    last = element;
    boxes.set(element, {
      kind: own,
      title: isKind ? undefined : text,
      content: element.querySelector("td.content") ?? element,
    });
  }
  return boxes;
}

/** How many elements of a box may be its title. */
const MAX_TITLES = 8;

function titleIn(box: PageElement): PageElement | undefined {
  for (const element of [...box.querySelectorAll("*")].slice(0, MAX_TITLES)) {
    const text = textOf(element);
    if (text === "" || text.length > 100) continue;
    const isTitle =
      /title|heading/i.test(classOf(element)) ||
      /^(?:summary|dt)$/.test(element.localName) ||
      isHeading(element);
    if (isTitle || kindOf(text) !== undefined) return element;
  }
  return undefined;
}
