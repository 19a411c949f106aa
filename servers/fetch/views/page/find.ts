// Search in the text that is shown, with marks that leave the page's elements unchanged.
import { button } from "../../../../packages/core/views/controls.ts";
import { element } from "../../../../packages/core/views/host.ts";

const MAX_FOUND = 1_000;

/** A search field for what `article` shows. */
export class Find {
  readonly shown: HTMLElement;
  readonly #article: HTMLElement;
  readonly #field = element("input", {
    type: "search",
    placeholder: "Find",
    "aria-label": "Find in the page",
  });
  readonly #status = element("span", { role: "status" });
  readonly #buttons = [button("‹"), button("›")];
  #found: Range[] = [];
  #at = 0;

  constructor(article: HTMLElement) {
    this.#article = article;
    const [previous, next] = this.#buttons;
    previous?.setAttribute("aria-label", "Previous match");
    next?.setAttribute("aria-label", "Next match");
    previous?.addEventListener("click", () => this.#go(this.#at - 1));
    next?.addEventListener("click", () => this.#go(this.#at + 1));
    this.#field.addEventListener("input", () => this.update(true));
    this.#field.addEventListener("keydown", ({ key, shiftKey }) => {
      if (key === "Enter") this.#go(this.#at + (shiftKey ? -1 : 1));
    });
    this.shown = element("span", { class: "find" }, this.#field, this.#status, ...this.#buttons);
    this.#report();
  }

  /** Searches again, for example after more text was loaded; `go` also scrolls to the first match. */
  update(go = false): void {
    this.#found = rangesOf(this.#article, this.#field.value);
    this.#at = go ? 0 : Math.min(this.#at, Math.max(0, this.#found.length - 1));
    this.#mark();
    if (go && this.#found.length > 0) this.#go(0);
    this.#report();
  }

  #go(position: number): void {
    if (this.#found.length === 0) return;
    this.#at = (position + this.#found.length) % this.#found.length;
    const box = this.#found[this.#at]?.getBoundingClientRect();
    const frame = this.#article.getBoundingClientRect();
    if (box !== undefined) this.#article.scrollTop += box.top - frame.top - frame.height / 3;
    this.#mark();
    this.#report();
  }

  #mark(): void {
    // Older browsers have no highlights: there only the scrolling shows where a match is.
    if (!("highlights" in CSS)) return;
    CSS.highlights.set("found", new Highlight(...this.#found));
    CSS.highlights.set("current", new Highlight(...this.#found.slice(this.#at, this.#at + 1)));
  }

  #report(): void {
    const { length } = this.#found;
    const many = length === MAX_FOUND ? `${length}+` : String(length);
    this.#status.textContent =
      this.#field.value === ""
        ? ""
        : length === 0
          ? "no match in the loaded text"
          : `${this.#at + 1} of ${many}`;
    for (const one of this.#buttons) one.hidden = length === 0;
  }
}

/** Where a text occurs, ignoring case; a match can span elements inside a paragraph, not paragraphs. */
function rangesOf(root: HTMLElement, sought: string): Range[] {
  const wanted = sought.trim().toLowerCase();
  if (wanted === "") return [];
  const nodes: { node: Text; start: number }[] = [];
  let text = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let block: Element | null | undefined;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const within = node.parentElement?.closest(
      "p, li, td, th, pre, h2, h3, h4, h5, h6, blockquote",
    );
    if (block !== undefined && within !== block) text += "\n";
    block = within;
    nodes.push({ node: node as Text, start: text.length });
    // A letter whose lower case is longer would shift all that follows.
    const value = (node as Text).data;
    const lower = value.toLowerCase();
    text += lower.length === value.length ? lower : value;
  }
  const found: Range[] = [];
  let index = 0;
  for (
    let at = text.indexOf(wanted);
    at >= 0 && found.length < MAX_FOUND;
    at = text.indexOf(wanted, at + wanted.length)
  ) {
    const range = document.createRange();
    const place = (offset: number) => {
      while ((nodes[index + 1]?.start ?? Number.POSITIVE_INFINITY) <= offset) index += 1;
      return nodes[index];
    };
    const start = place(at);
    if (start === undefined) break;
    range.setStart(start.node, at - start.start);
    const end = place(at + wanted.length - 1) ?? start;
    range.setEnd(end.node, Math.min(at + wanted.length - end.start, end.node.length));
    found.push(range);
  }
  return found;
}
