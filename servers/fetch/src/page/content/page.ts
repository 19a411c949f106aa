/** A page whose invisible parts are gone, and whose notes and boxes are known. */
import { type Box, boxesIn } from "./boxes.ts";
import type { PageDocument, PageElement } from "./document.ts";
import { removeHidden } from "./hidden.ts";
import { Notes } from "./notes.ts";

export interface ReadPage {
  readonly document: PageDocument;
  readonly notes: Notes;
  readonly boxes: ReadonlyMap<PageElement, Box>;
  /** Whether hidden text was kept, because the page would be almost empty without it. */
  readonly hasHidden: boolean;
}

/** Removes what a page hides, then finds its notes and boxes, before these may be taken for navigation. */
export function readPage(document: PageDocument): ReadPage {
  return markedPage(document, removeHidden(document));
}

/** An unchanged page, including what it hides. */
export function markedPage(document: PageDocument, hasHidden: boolean): ReadPage {
  return { document, notes: new Notes(document), boxes: boxesIn(document), hasHidden };
}
