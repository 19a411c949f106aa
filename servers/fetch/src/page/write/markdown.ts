/**
 * From the DOM to Markdown in one pass. Nothing is changed in the page before: what its parts mean is known by then (notes,
 * boxes, formulas), and what is not read is left out on the way.
 */
import type { Selection } from "../content/article.ts";
import { isHeading, type PageElement } from "../content/document.ts";
import type { ReadPage } from "../content/page.ts";
import { BLOCKS, blocksOf, joinBlocks } from "./blocks.ts";
import type { OutputOptions, Writing } from "./writing.ts";

/**
 * Writes elements of a page as Markdown, with the text of their notes at the end.
 *
 * @param selection what is read of them; everything if left out.
 */
export function writeMarkdown(
  elements: readonly PageElement[],
  { notes, boxes }: ReadPage,
  options: OutputOptions,
  selection?: Selection,
): string {
  const labels = notes.labelsIn(elements);
  const writing: Writing = {
    ...options,
    selection,
    notes,
    labels,
    boxes,
    ...framesIn(elements),
    depth: 0,
    place: "paragraph",
    isStrong: false,
    isLink: false,
  };
  const parts = elements.map((element) => joinBlocks(blocksOf([element], writing)));
  const definitions = [...labels].map((label) => noteText(label, writing));
  return [...parts, ...definitions].filter((part) => part !== "").join("\n\n");
}

/** A note as one paragraph with its label before it. */
function noteText(label: string, writing: Writing): string {
  const content = writing.notes.contents.get(label);
  const inside = { ...writing, selection: undefined, labels: new Set<string>() };
  const blocks = content === undefined ? [] : blocksOf([...content.childNodes], inside);
  const text = blocks
    .map((block) => block.text)
    .join(blocks.some(({ text }) => text.includes("\n")) ? "\n\n" : " ");
  return `[^${label}]: ${text.replace(/\n(?=.)/g, "\n    ")}`;
}

/** The elements around blocks, and the items of lists around headings, of all elements that are written. */
function framesIn(elements: readonly PageElement[]): Pick<Writing, "holders" | "sections"> {
  const holders = new Set<PageElement>();
  const sections = new Set<PageElement>();
  for (const root of elements)
    for (const block of root.querySelectorAll(BLOCKS)) {
      for (let at = block.parentElement; at !== null && !holders.has(at); at = at.parentElement)
        holders.add(at);
      if (isHeading(block) && block.localName < "h5")
        for (let item = block.closest("li"); item !== null && !sections.has(item); ) {
          sections.add(item);
          item = item.parentElement?.closest("li") ?? null;
        }
    }
  return { holders, sections };
}
