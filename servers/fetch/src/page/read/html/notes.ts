import { decoded } from "../outline.ts";
import { HEADINGS, type PageDocument, type PageElement, textOf } from "./document.ts";
import { verbatim } from "./verbatim.ts";

/** The notes of a page by their labels, until its Markdown is written. */
const notesOf = new WeakMap<PageDocument, Map<string, PageElement>>();
const LABEL = "data-refmcp-note";
const DEFINITION = "data-refmcp-definition";

/** A mark that points to a note: a number, a letter or a sign, perhaps in brackets. */
const MARK = /^[[(]?\s*((?:(?:note|nb|n|fn)\s?)?[\p{L}\d]{1,3}|[*†‡§¶]{1,3})\s*[\])]?$/iu;
/** Classes of notes in the text: margin notes of Tufte CSS, LaTeXML's footnotes. */
const INLINE = /(?:^| )(?:sidenote|marginnote|ltx_note_content)(?: |$)/;

/**
 * Makes each mark that a note belongs to a `[^1]`. `writeNotes` puts the note at the end of what is read of the page,
 * whatever is left of the place where the page has it.
 */
export function markNotes(document: PageDocument): void {
  const notes = new Map<string, PageElement>();
  const add = (note: PageElement, mark: string, content: PageElement): string => {
    let label = mark;
    for (let count = 2; notes.has(label); count++) label = `${mark}-${count}`;
    notes.set(label, content);
    note.setAttribute(DEFINITION, label);
    return label;
  };
  let byId: Map<string, PageElement> | undefined;
  const targetOf = (link: PageElement): PageElement | undefined => {
    byId ??= new Map(
      [...document.querySelectorAll("a[name], [id]")].map((one) => [
        one.id || (one.getAttribute("name") ?? ""),
        one,
      ]),
    );
    const id = (link.getAttribute("href") ?? "").replace(/^[^#]*#/, "");
    return id === "" ? undefined : (byId.get(id) ?? byId.get(decoded(id)));
  };
  const known = new Map<PageElement, Note | undefined>();
  const noteAt = (target: PageElement): Note | undefined => {
    if (!known.has(target)) known.set(target, noteAround(target));
    return known.get(target);
  };
  // Faster than selectors.
  for (const link of [...document.getElementsByTagName("a")]) {
    if (!link.getAttribute("href")?.includes("#")) continue;
    const [, mark] = MARK.exec(textOf(link).slice(0, 20)) ?? [];
    const target = mark === undefined ? undefined : targetOf(link);
    if (mark === undefined || target === undefined || link.closest(DEFINED) !== null) continue;
    const found = noteAt(target);
    const place = link.closest("sup") ?? link;
    if (found === undefined || found.note.contains(place) || found.head.contains(place)) continue;
    const { head, note, links } = found;
    const isBack = (back: PageElement): boolean => {
      const named = targetOf(back);
      return (
        named !== undefined &&
        (place.contains(named) || (named.contains(place) && textOf(named).length < 20))
      );
    };
    const names = [place, link, link.parentElement].map((one) => one?.className).join(" ");
    const isNamed = NOTES.test(names) && note.closest(NOTE_LIST) !== null;
    if (!note.hasAttribute(DEFINITION) && !isNamed && !links.some(isBack)) continue;
    const label =
      note.getAttribute(DEFINITION) ??
      add(note, mark.replace(/\s+/g, ""), contentOf(note, targetOf));
    if (head !== note) head.setAttribute(DEFINITION, label);
    put(place, label, document);
  }
  let count = 0;
  for (const side of [...document.getElementsByTagName("span")]) {
    if (!INLINE.test(side.className)) continue;
    if (textOf(side) === "" || side.closest(HEADINGS) !== null) continue;
    count += 1;
    const place = side.closest(".ltx_note") ?? side;
    // Its number, and what opens it.
    let before = place.previousElementSibling;
    for (
      ;
      before !== null && /^(?:LABEL|INPUT)$/.test(before.tagName);
      before = place.previousElementSibling
    )
      before.remove();
    if (before?.hasAttribute(LABEL) && before === place.previousSibling) place.remove();
    else put(place, add(side, String(count), contentOf(side, targetOf)), document);
  }
  if (notes.size > 0) notesOf.set(document, notes);
}

const DEFINED = `[${DEFINITION}]`;
const NOTES = /foot-?note|note-?ref|fnref|citation|reference/i;
const NOTE_LIST = "[role=doc-endnotes], [class*=footnote], [id*=footnote], .references";
/** A longer element is not a note. */
const MAX_NOTE = 5_000;
/** Wikipedia links back from a note to each of its marks. */
const MAX_LINKS = 200;

interface Note {
  /** Its number, if that is a term or a heading before it, otherwise the note. */
  readonly head: PageElement;
  readonly note: PageElement;
  /** What may link back. */
  readonly links: readonly PageElement[];
}

/** The note of which a link names a part; undefined if that is too long for one. */
function noteAround(target: PageElement): Note | undefined {
  const head = target.closest("dt, h4, h5, h6");
  const next = head?.nextElementSibling;
  const whole = target.closest("li, aside, dd, tr, div.footnote, p.footnote, [role=doc-footnote]");
  const isPart = /^(?:A|SUP|SPAN|B|STRONG)$/.test(target.tagName);
  const block = whole ?? (isPart ? (target.closest("p, div") ?? target) : target);
  const isAfter = head !== null && next && MARK.test(textOf(head));
  const [first, note] = isAfter ? [head, next] : [block, block];
  if (textOf(note).length > MAX_NOTE) return undefined;
  const links = [...new Set([first, note])].flatMap((part) => [
    part,
    ...part.querySelectorAll("a[href*='#']"),
  ]);
  return { head: first, note, links: links.slice(0, MAX_LINKS) };
}

/** A copy of a note without its number and the links back. */
function contentOf(
  note: PageElement,
  targetOf: (link: PageElement) => PageElement | undefined,
): PageElement {
  const content = note.cloneNode(true);
  for (const mark of content.querySelectorAll(
    ".label, .mw-cite-backlink, .footnote-number, .sidenote-number, .ltx_note_mark, .ltx_tag_note",
  ))
    mark.remove();
  for (const link of content.querySelectorAll("a[href*='#']")) {
    const text = textOf(link);
    if ((!/[\p{L}\p{N}]/u.test(text) || MARK.test(text)) && targetOf(link) !== undefined)
      (link.closest("sup") ?? link).remove();
  }
  const first = content.querySelector("sup");
  if (first !== null && MARK.test(textOf(first)) && textOf(content).startsWith(textOf(first)))
    first.remove();
  return content;
}

function put(place: PageElement, label: string, document: PageDocument): void {
  const mark = document.createElement("span");
  mark.setAttribute(LABEL, label);
  mark.append(verbatim(`[^${label}]`));
  place.replaceWith(mark);
}

/** Moves the notes of the marks in a part of a page to its end, as `[^1]: …`. */
export function writeNotes(root: PageElement, document: PageDocument): void {
  const notes = notesOf.get(document);
  if (notes === undefined) return;
  const marks = root.querySelectorAll(`[${LABEL}]`);
  const labels = new Set([...marks].map((mark) => mark.getAttribute(LABEL) ?? ""));
  const lists = new Set<PageElement>();
  for (const place of root.querySelectorAll(DEFINED)) {
    if (!labels.has(place.getAttribute(DEFINITION) ?? "")) continue;
    if (place.parentElement !== null && place.parentElement !== root)
      lists.add(place.parentElement);
    place.remove();
  }
  for (const list of lists) if (textOf(list) === "") list.remove();
  for (const label of labels) {
    const note = notes.get(label);
    if (note === undefined) continue;
    const line = document.createElement("p");
    line.append(verbatim(`[^${label}]:`), " ");
    for (const block of note.querySelectorAll("p, div, tbody, tr, td, dd")) {
      block.before(" ");
      block.replaceWith(...block.childNodes);
    }
    line.append(...note.childNodes);
    root.append(line);
  }
}

const KINDS = new Map(
  [
    ["NOTE", "note info information seealso remark abstract summary todo"],
    ["TIP", "tip hint success"],
    ["IMPORTANT", "important attention"],
    ["WARNING", "warning"],
    ["CAUTION", "caution danger error bug failure"],
  ].flatMap(([kind = "", words = ""]) =>
    words.split(" ").map((word): [string, string] => [word, kind]),
  ),
);
const kindOf = (text: string): string | undefined =>
  KINDS.get(text.toLowerCase().replace(/[^a-z]+/g, ""));
const BOXES =
  "div[class], aside[class], section[class], blockquote[class], details[class], dl[class]";
/** Classes of boxes that generators of documentation write. */
const BOX =
  /(?:^|[\s_-])(?:admonition|admonitionblock|callout|markdown-alert|custom-block|starlight-aside|blockquote-tag|hint)(?:$|[\s_-])|^\s*(?:note|tip|important|warning|caution)\s*$/;

/** Titles of boxes whose class is the word alone, or with others that say nothing. */
const PLAIN = /^(?:note|tip|hint|important|attention|warning|caution|danger|see also)\W*$/i;

/** Makes boxes such as notes and warnings what GitHub calls alerts: quotes that begin with `[!NOTE]`. */
export function markAdmonitions(document: PageDocument): void {
  for (const box of document.body.querySelectorAll(BOXES)) {
    const name = `${box.className} ${box.getAttribute("data-callout") ?? ""}`
      .slice(0, 500)
      .toLowerCase();
    const isBox = BOX.test(name.trim());
    const words = name.split(/[\s_-]+/);
    const kind =
      words.map((word) => KINDS.get(word)).find((one) => one !== undefined) ??
      (isBox ? "NOTE" : undefined);
    // Parts of a box have its name too.
    if (kind === undefined || !document.body.contains(box) || textOf(box).length > MAX_NOTE)
      continue;
    const title = titleIn(box, document);
    const titled = title && kindOf(textOf(title));
    const isKnown =
      isBox || (titled && !/^H[12]$/.test(title.tagName) && PLAIN.test(textOf(title)));
    if (!isKnown || (title === undefined && /title|content|icon|body/.test(name))) continue;
    const quote = document.createElement("blockquote");
    const head = document.createElement("p");
    head.append(verbatim(`[!${titled ?? kind}]`));
    if (
      title !== undefined &&
      textOf(title).toUpperCase().replace(/\W+$/, "") !== (titled ?? kind)
    ) {
      const strong = document.createElement("strong");
      strong.append(textOf(title));
      head.append(" ", strong);
    }
    title?.remove();
    quote.append(head, ...(box.querySelector("td.content") ?? box).childNodes);
    // The box keeps its id, which a URL may name; an aside would be taken for navigation.
    if (box.localName === "aside") box.replaceWith(quote);
    else if (box.localName === "blockquote") box.replaceChildren(...quote.childNodes);
    else box.replaceChildren(quote);
  }
}

/** How many elements of a box may be its title. */
const MAX_TITLES = 8;

function titleIn(box: PageElement, document: PageDocument): PageElement | undefined {
  const walker = document.createTreeWalker(box, SHOW_ELEMENT);
  for (let index = 0; index < MAX_TITLES && walker.nextNode(); index++) {
    const element = walker.currentNode as PageElement;
    const text = textOf(element);
    if (text === "" || text.length > 100) continue;
    const isTitle =
      /title|heading/i.test(element.className) || /^(?:SUMMARY|DT|H[1-6])$/.test(element.tagName);
    if (isTitle || kindOf(text) !== undefined) return element;
  }
  return undefined;
}

/** DOM's constant for elements. */
const SHOW_ELEMENT = 1;
