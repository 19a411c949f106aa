/**
 * Footnotes: which marks in the text belong to which note. `write/` makes each mark a `[^1]`, and puts the note at the end of
 * what is read of the page, even if the place where the page has it is left out.
 */
import { decode } from "./address.ts";
import { type PageDocument, type PageElement, textOf } from "./document.ts";

/** A mark that points to a note: a number, a letter or a sign, perhaps in brackets. */
const MARK = /^[[(]?\s*((?:(?:note|nb|n|fn)\s?)?[\p{L}\d]{1,3}|[*†‡§¶]{1,3})\s*[\])]?$/iu;
const NAMES = /foot-?note|note-?ref|fnref|citation|reference/i;
const LISTS = "[role=doc-endnotes], [class*=footnote], [id*=footnote], .references";
/** Numbers of notes, and links back, by their classes. */
const NUMBERS = ".label, .mw-cite-backlink, .footnote-number";
/** A longer element is not a note. */
const MAX_CHARS = 5_000;
/** Wikipedia links back from a note to each of its marks. */
const MAX_LINKS = 200;

interface Note {
  /** Its number, if that is a term or a heading before it, otherwise the note. */
  readonly head: PageElement;
  readonly content: PageElement;
  /** What may link back. */
  readonly links: readonly PageElement[];
}

/** The notes of a page. */
export class Notes {
  /** The elements that are marks, and the labels of their notes. */
  readonly marks = new Map<PageElement, string>();
  /** The notes by their labels. */
  readonly contents = new Map<string, PageElement>();
  /** Where the page has each note. */
  readonly #places = new Map<PageElement, string>();
  /** Numbers of notes and links back. */
  readonly #unread = new Set<PageElement>();
  readonly #notes = new Map<PageElement, Note | undefined>();
  readonly #document: PageDocument;
  #byId: Map<string, PageElement> | undefined;

  constructor(document: PageDocument) {
    this.#document = document;
    // Faster than selectors.
    for (const link of [...document.getElementsByTagName("a")]) this.#addLinked(link);
  }

  /** The labels of the notes whose marks are in these elements. */
  labelsIn(elements: readonly PageElement[]): Set<string> {
    const isInside = ([mark]: [PageElement, string]) =>
      elements.some((root) => root.contains(mark));
    return new Set([...this.marks].filter(isInside).map(([, label]) => label));
  }

  /** Whether an element is not read where it is: a note that is written at the end, its number, or a link back. */
  isSilent(element: PageElement, labels: ReadonlySet<string>): boolean {
    const label = this.#places.get(element);
    return this.#unread.has(element) || (label !== undefined && labels.has(label));
  }

  /** Adds a link that is the mark of a note: if the note links back, or both have the names of notes. */
  #addLinked(link: PageElement): void {
    if (!link.getAttribute("href")?.includes("#")) return;
    const [, mark] = MARK.exec(textOf(link).slice(0, 20)) ?? [];
    const target = mark === undefined ? undefined : this.#targetOf(link);
    if (mark === undefined || target === undefined) return;
    if (!this.#notes.has(target)) this.#notes.set(target, noteAround(target));
    const note = this.#notes.get(target);
    const sup = link.closest("sup");
    const place = sup !== null && textOf(sup) === textOf(link) ? sup : link;
    if (note === undefined || note.content.contains(place) || note.head.contains(place)) return;
    for (let at: PageElement | null = place; at !== null; at = at.parentElement)
      if (this.#places.has(at)) return;
    const isBack = (back: PageElement): boolean => {
      const named = this.#targetOf(back);
      if (named === undefined) return false;
      return place.contains(named) || (named.contains(place) && textOf(named).length < 20);
    };
    const names = [place, link, link.parentElement].map((part) => part?.className).join(" ");
    const isNamed = NAMES.test(names) && note.content.closest(LISTS) !== null;
    const label = this.#places.get(note.content);
    if (label === undefined && !isNamed && !note.links.some(isBack)) return;
    this.marks.set(place, label ?? this.#add(note, mark.replace(/\s+/g, "")));
  }

  #add({ head, content }: Note, mark: string): string {
    let label = mark;
    for (let count = 2; this.contents.has(label); count++) label = `${mark}-${count}`;
    this.contents.set(label, content);
    for (const place of [head, content]) this.#places.set(place, label);
    for (const number of content.querySelectorAll(NUMBERS)) this.#unread.add(number);
    for (const link of content.querySelectorAll("a[href*='#']")) {
      const text = textOf(link);
      const isBack = !/[\p{L}\p{N}]/u.test(text) || MARK.test(text);
      if (isBack && this.#targetOf(link) !== undefined)
        this.#unread.add(link.closest("sup") ?? link);
    }
    const first = content.querySelector("sup");
    if (first !== null && MARK.test(textOf(first)) && textOf(content).startsWith(textOf(first)))
      this.#unread.add(first);
    return label;
  }

  #targetOf(link: PageElement): PageElement | undefined {
    this.#byId ??= new Map(
      [...this.#document.querySelectorAll("a[name], [id]")].map((element) => [
        element.id || (element.getAttribute("name") ?? ""),
        element,
      ]),
    );
    const id = (link.getAttribute("href") ?? "").replace(/^[^#]*#/, "");
    return id === "" ? undefined : (this.#byId.get(id) ?? this.#byId.get(decode(id)));
  }
}

/** The note that contains the target of a link; undefined if that is too long for one. */
function noteAround(target: PageElement): Note | undefined {
  const head = target.closest("dt, h4, h5, h6");
  const next = head?.nextElementSibling;
  const whole = target.closest("li, aside, dd, tr, div.footnote, p.footnote, [role=doc-footnote]");
  const isPart = /^(?:a|sup|span|b|strong)$/.test(target.localName);
  const block = whole ?? (isPart ? (target.closest("p, div") ?? target) : target);
  const isAfter = head !== null && next && MARK.test(textOf(head));
  const [first, content] = isAfter ? [head, next] : [block, block];
  if (textOf(content).length > MAX_CHARS) return undefined;
  const links = [...new Set([first, content])].flatMap((part) => [
    part,
    ...part.querySelectorAll("a[href*='#']"),
  ]);
  return { head: first, content, links: links.slice(0, MAX_LINKS) };
}
