// Shows a fetched page for reading: its text, which grows as the reader asks for more, the headings of the whole page,
// search, and links that the host opens. The text is untrusted, so it becomes paragraphs and headings, never markup.
import "../../../../packages/core/views/view.css";
import "../../../../packages/core/views/sheet.css";
import { button, fullscreenButton, plain } from "../../../../packages/core/views/controls.ts";
import { element, Host, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";
import { Find } from "./find.ts";
import { blocksOf } from "./markdown.ts";
import { type Heading, headingsOf, Outline } from "./outline.ts";
import "./view.css";

/** A piece of a page: its URL, facts about it, its text, how long the whole text is, and where the next piece begins. */
interface Piece {
  readonly address: string;
  readonly about: readonly string[];
  readonly text: string;
  readonly length: number | undefined;
  readonly next: number | undefined;
}

const host = new Host();
let given: Record<string, unknown> = {};

/**
 * Parses an answer: the text is one block, the server's line about it the next; undefined if the answer is not text.
 */
function pieceOf({ content = [] }: ToolResult): Piece | undefined {
  const [text = "", foot] = content.map((block) => block.text ?? "");
  const head = /^Contents of (\S+):\n(?:\[([^\n]*)\]\n(?:\[[^\n]*\]\n)*\n)?/.exec(text);
  if (head === null || foot === undefined) return undefined;
  const next = /start_index=(\d+)/.exec(foot)?.[1];
  const length = /(?:of|All) ([\d,]+)/.exec(foot)?.[1];
  return {
    address: head[1] ?? "",
    about: head[2]?.split(" | ") ?? [],
    text: text.slice(head[0].length),
    length: length === undefined ? undefined : Number(length.replaceAll(",", "")),
    next: next === undefined ? undefined : Number(next),
  };
}

/** Whether a page's text is Markdown, not source or plain text requested by the model. */
function isMarkdown(about: readonly string[]): boolean {
  const { raw, format = "auto" } = given;
  return (
    raw !== true &&
    (format === "markdown" ||
      (format === "auto" && !about.some((fact) => /json|text\/plain/.test(fact))))
  );
}

function link(base: string) {
  return (text: Node[], address: string): Node => {
    if (!URL.canParse(address, base)) return element("span", {}, ...text);
    const { href, protocol } = new URL(address, base);
    // Only URLs that open a page or a mail program; no scripts.
    if (!["http:", "https:", "mailto:"].includes(protocol)) return element("span", {}, ...text);
    const made = element("a", { href, title: href }, ...text);
    made.addEventListener("click", (event) => {
      event.preventDefault();
      void host.openLink(href);
    });
    return made;
  };
}

/** The page's text, and what a reader does with it. */
class Reader {
  readonly shown: HTMLElement;
  readonly #first: Piece;
  readonly #article = element("article", { tabindex: "0", "aria-label": "Page" });
  readonly #status = element("p", { class: "facts", role: "status" });
  readonly #more = button("Load more");
  readonly #find = new Find(this.#article);
  #outline: Outline | undefined;
  #headings: readonly Heading[] = [];
  /** The element of each heading that is loaded. */
  #places: (HTMLElement | undefined)[] = [];
  #text = "";
  #next: number | undefined;

  constructor(first: Piece, title: string, facts: string) {
    this.#first = first;
    const original = button("Open in browser");
    original.addEventListener("click", () => void host.openLink(first.address));
    this.#more.addEventListener("click", () => void this.#load());
    this.#article.addEventListener("scroll", () => this.#markHeading(), { passive: true });
    const columns = element("div", { class: "columns" }, this.#article);
    this.shown = element(
      "main",
      {},
      element("header", {}, element("h1", {}, title), element("p", {}, facts)),
      element("div", { class: "bar" }, this.#find.shown, fullscreenButton(host), original),
      columns,
      element("div", { class: "bar foot" }, this.#status, this.#more),
    );
    this.#add(first);
    if (isMarkdown(first.about)) void this.#addOutline(columns);
  }

  #add(piece: Piece): void {
    this.#text += piece.text;
    this.#next = piece.next;
    // All of it again: a table, a list or code can go on from one piece to the next.
    if (isMarkdown(this.#first.about))
      this.#article.replaceChildren(...blocksOf(this.#text, { link: link(this.#first.address) }));
    else {
      this.#article.classList.add("plain");
      this.#article.textContent = this.#text;
    }
    this.#dropRepeatedTitle();
    this.#more.hidden = this.#next === undefined;
    this.#status.textContent = this.#shownPart();
    this.#find.update();
    this.#findHeadings();
  }

  /** How much of the page is here, for a person. */
  #shownPart(): string {
    const { length } = this.#first;
    if (this.#next === undefined || length === undefined)
      return startOf(given) > 0 ? "To the end of the page" : "The whole page";
    return `${Math.max(1, Math.floor((100 * this.#text.length) / length))} % of the page`;
  }

  /** The view's own heading shows the title, and most pages begin with it too. */
  #dropRepeatedTitle(): void {
    const first = this.#article.querySelector("h2, h3, h4, h5, h6");
    const title = this.shown.querySelector("h1")?.textContent ?? "";
    if (folded(first?.textContent ?? "") === folded(title)) first?.classList.add("spoken");
  }

  /** Loads text: the next piece, or everything up to a position. Returns whether it could. */
  async #load(upTo?: number): Promise<boolean> {
    if (this.#more.disabled || this.#next === undefined) return false;
    this.#more.disabled = true;
    this.#status.textContent = "Loading …";
    const size =
      upTo === undefined ? {} : { max_length: Math.min(999_999, upTo - this.#next + PIECE) };
    const said = await host.callTool("fetch", { ...given, ...size, start_index: this.#next }).then(
      (result) => (result.isError ? textOf(result) : (pieceOf(result) ?? textOf(result))),
      (error: Error) => error.message,
    );
    this.#more.disabled = false;
    if (typeof said === "string") this.#status.textContent = said;
    else this.#add(said);
    return typeof said !== "string";
  }

  /** The headings of the whole page, which the server knows; a page without several has no list. */
  async #addOutline(columns: HTMLElement): Promise<void> {
    const { start_index, max_length, section, ...page } = given;
    if (section !== undefined) return;
    const result = await host
      .callTool("fetch", { ...page, format: "metadata" })
      .catch(() => undefined);
    if (result === undefined || result.isError === true) return;
    this.#headings = headingsOf(result);
    if (this.#headings.length < MIN_HEADINGS) return;
    this.#outline = new Outline(
      this.#headings,
      (heading, position) => void this.#open(heading, position),
    );
    const summary = element("summary", {}, `Contents (${this.#headings.length})`);
    const list = element("details", { class: "contents" }, summary, this.#outline.shown);
    columns.prepend(list);
    const wide = matchMedia("(min-width: 52em)");
    const fit = () => {
      list.open = wide.matches;
    };
    wide.addEventListener("change", fit);
    fit();
    this.#findHeadings();
    this.#markHeading();
  }

  async #open(heading: Heading, position: number): Promise<void> {
    if (this.#places[position] === undefined) await this.#load(heading.index);
    const place = this.#places[position];
    if (place === undefined) return;
    this.#article.scrollTop +=
      place.getBoundingClientRect().top - this.#article.getBoundingClientRect().top - 12;
    this.#outline?.mark(position);
  }

  /** Finds the loaded headings in the text, by their titles and in their order. */
  #findHeadings(): void {
    const elements = [...this.#article.querySelectorAll<HTMLElement>("h2, h3, h4, h5, h6")];
    let at = 0;
    this.#places = this.#headings.map(({ title, index }) => {
      if (index < startOf(given)) return undefined;
      const found = elements.findIndex(
        (one, position) => position >= at && folded(one.textContent ?? "") === folded(title),
      );
      if (found < 0) return undefined;
      at = found + 1;
      return elements[found];
    });
  }

  /** Marks the last heading above the middle of what is visible. */
  #markHeading(): void {
    if (this.#outline === undefined) return;
    const { top, height } = this.#article.getBoundingClientRect();
    const isAbove = (one: HTMLElement | undefined) =>
      one !== undefined && one.getBoundingClientRect().top < top + height / 3;
    this.#outline.mark(this.#places.findLastIndex(isAbove));
  }
}

const PIECE = 5_000;
/** A shorter list says nothing that the text does not. */
const MIN_HEADINGS = 3;

/** Where the shown text begins in the page's. */
const startOf = ({ start_index: start }: Record<string, unknown>): number =>
  typeof start === "number" ? start : 0;

/** A title for comparisons. */
const folded = (text: string): string => text.trim().toLowerCase().replaceAll(/\s+/g, " ");

function pageOf(first: Piece): HTMLElement {
  const [title, ...rest] = first.about;
  const isTitled = title?.startsWith('"') === true;
  const facts = [first.address, ...(isTitled ? rest : first.about)].join(" · ");
  return new Reader(first, isTitled ? title.slice(1, -1) : new URL(first.address).host, facts)
    .shown;
}

/** An image, or a message instead of a page. */
function otherOf(result: ToolResult): HTMLElement {
  const picture = result.content?.find(({ type }) => type === "image");
  const isShown =
    picture?.data !== undefined && /^image\/(png|jpeg|gif|webp)$/.test(picture.mimeType ?? "");
  if (!isShown) return plain(textOf(result), result.isError);
  const shown = element("img", {
    src: `data:${picture.mimeType};base64,${picture.data}`,
    alt: "The fetched image",
  });
  return element("main", {}, shown, element("p", { class: "note" }, textOf(result)));
}

host.onInput = (input) => {
  given = input;
};
host.onResult = (result) => {
  const piece = result.isError ? undefined : pieceOf(result);
  document.body.replaceChildren(piece === undefined ? otherOf(result) : pageOf(piece));
};
void host.connect("refmcp-page");
