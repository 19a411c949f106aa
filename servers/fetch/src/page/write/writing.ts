/** What the functions of the writer pass on: the page, what is wanted of it, and where they are. */
import type { Selection } from "../content/article.ts";
import type { Box } from "../content/boxes.ts";
import { classOf, type PageElement } from "../content/document.ts";
import type { Notes } from "../content/notes.ts";

/** How a page is written. */
export interface OutputOptions {
  /** The base of relative URLs. */
  readonly base: string;
  readonly includeLinks: boolean;
}

export interface Writing extends OutputOptions {
  /** All of the page if undefined. */
  readonly selection: Selection | undefined;
  readonly notes: Notes;
  /** The labels of the notes whose marks are in what is written, so that their text is at the end. */
  readonly labels: ReadonlySet<string>;
  readonly boxes: ReadonlyMap<PageElement, Box>;
  /** Elements that contain blocks, and items of lists that contain headings. */
  readonly holders: ReadonlySet<PageElement>;
  readonly sections: ReadonlySet<PageElement>;
  /** How many lists and quotes are around. */
  readonly depth: number;
  /** Where a text is: a line break is different in each. */
  readonly place: "paragraph" | "heading" | "cell";
  /** Whether the text is bold already, so that further marks of emphasis would be ambiguous. */
  readonly isStrong: boolean;
  /** Whether brackets would end the text of a link. */
  readonly isLink: boolean;
}

/** Elements without text for a reader. */
const SILENT = new Set(
  "script style template noscript iframe object embed svg canvas link meta title base head video audio datalist".split(
    " ",
  ),
);

/** Descriptions of types that rustdoc has in the middle of a signature. */
const TIP = /(?:^|\s)notable-traits(?:\s|$)/;

/** Whether anything in an element is written where it is. */
export function isWritten(element: PageElement, writing: Writing): boolean {
  const { selection, notes, labels, place } = writing;
  if (SILENT.has(element.localName) || notes.isSilent(element, labels)) return false;
  if (place === "heading" && TIP.test(classOf(element))) return false;
  return selection === undefined || selection.parts.has(element) || selection.around.has(element);
}

/** Whether an element's own text is written, and not only that of the elements in it. */
export const hasText = (element: PageElement | null, { selection }: Writing): boolean =>
  selection === undefined || (element !== null && selection.parts.has(element));
