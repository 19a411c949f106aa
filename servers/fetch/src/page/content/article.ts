/**
 * The article of a page, found by Mozilla's Readability. It judges a copy of the page, whose elements have numbers; what it keeps
 * is then read in the page itself. So it cannot damage code, formulas or tables, and what it drops between two parts that it
 * keeps, such as a heading with an unusual class, is read all the same.
 */
import { Readability } from "@mozilla/readability";
import {
  frameOf,
  HEADINGS,
  isHeading,
  type PageDocument,
  type PageElement,
  textOf,
} from "./document.ts";
import type { ReadPage } from "./page.ts";

/** Of a page, only the elements in `parts` are read with their text, and those around them without their own. */
export interface Selection {
  readonly parts: ReadonlySet<PageElement>;
  readonly around: ReadonlySet<PageElement>;
}

interface Article {
  readonly selection: Selection;
  readonly chars: number;
  readonly byline: string | undefined;
  /** As the page has it. */
  readonly published: string | undefined;
}

/** An attribute's name ends with its element's number: Readability may merge two elements, and keeps both names. */
const NUMBER = "data-refmcp-";
/** A page with more elements is a list or a reference, whose judgement would take seconds. */
const MAX_ELEMENTS = 50_000;
/** Readability searches these attributes in quadratic time. */
const MAX_IMAGE_ATTRIBUTE = 1_000;
/** What a `div` that Readability reads as a paragraph does not contain. */
const NOT_PARAGRAPH = "blockquote, dl, div, img, ol, p, pre, table, ul";
/** What is read whole, or not at all. */
const WHOLE = `${HEADINGS}, pre, math`;

/** The article of a page, or undefined if Readability finds none. */
export function articleIn({ document, boxes, notes }: ReadPage): Article | undefined {
  const elements = [...document.body.querySelectorAll("*")];
  const copy = elements.length > MAX_ELEMENTS ? undefined : judge(document);
  if (!copy?.content) return undefined;
  const { content, byline, publishedTime } = copy;
  const parts = new Set<PageElement>();
  for (const element of content.querySelectorAll("*"))
    for (const { name } of element.attributes) {
      const number = name.startsWith(NUMBER) ? Number(name.slice(NUMBER.length)) : Number.NaN;
      const original = elements[number];
      if (original !== undefined) parts.add(original);
    }
  const around = aroundOf(parts);
  const units = [...document.body.querySelectorAll(WHOLE), ...boxes.keys(), ...notes.marks.keys()];
  const boxesOfTasks = document.body.querySelectorAll('li input[type="checkbox"]');
  for (const unit of [...units, ...boxesOfTasks]) keepWhole(unit, parts, around);
  return {
    selection: { parts, around: aroundOf(parts) },
    chars: textOf(content).length,
    byline: byline?.trim().slice(0, 200) || undefined,
    published: publishedTime || undefined,
  };
}

/** Readability's result for a copy of a page with numbered elements. */
function judge(document: PageDocument) {
  const copy = document.cloneNode(true) as PageDocument;
  for (const [index, element] of copy.body.querySelectorAll("*").entries())
    element.setAttribute(`${NUMBER}${index}`, "");
  // Readability would replace these by paragraphs without a number.
  for (const block of copy.querySelectorAll("div"))
    if (block.querySelector(NOT_PARAGRAPH) === null && textOf(block) !== "") {
      const paragraph = copy.createElement("p");
      for (const { name, value } of block.attributes) paragraph.setAttribute(name, value);
      paragraph.append(...block.childNodes);
      block.replaceWith(paragraph);
    }
  // It drops sections by their ids, too; comments are an exception.
  for (const section of copy.querySelectorAll("section[id], div.section[id]"))
    if (!/comment/i.test(section.id)) section.removeAttribute("id");
  for (const image of copy.querySelectorAll("img, picture, figure, video, audio, source"))
    for (const { name, value } of [...image.attributes])
      if (value.length > MAX_IMAGE_ATTRIBUTE && name !== "src") image.removeAttribute(name);
  try {
    return new Readability<PageElement>(copy, { keepClasses: true, serializer: asElement }).parse();
  } catch {
    return undefined;
  }
}

/** Readability's types require a browser's DOM; here it gets linkedom's. */
const asElement = (node: unknown): PageElement => node as PageElement;

/** The elements around others that are not among them. */
function aroundOf(parts: ReadonlySet<PageElement>): Set<PageElement> {
  const around = new Set<PageElement>();
  for (const element of parts)
    for (let at = element.parentElement; at !== null && !around.has(at); at = at.parentElement)
      around.add(at);
  return around;
}

/** Keeps all of an element, if Readability kept it or what it is in and, of a heading, what follows it. */
function keepWhole(
  unit: PageElement,
  parts: Set<PageElement>,
  around: ReadonlySet<PageElement>,
): void {
  const frame = parts.has(unit) ? unit : frameOf(unit, (parent) => parts.has(parent));
  const { parentElement: parent, previousElementSibling: last, nextElementSibling: next } = frame;
  const isKept = (element: PageElement | null) => element !== null && parts.has(element);
  const isFollowed = isKept(next) || (isKept(parent) && next !== null && around.has(next));
  const isInside = isKept(parent) || (isKept(last) && isKept(next));
  if (!parts.has(unit) && !(isHeading(unit) ? isFollowed : isInside)) return;
  for (let at: PageElement | null = unit; at !== null && at !== frame; at = at.parentElement)
    parts.add(at);
  for (const element of [frame, unit, ...unit.querySelectorAll("*")]) parts.add(element);
}
