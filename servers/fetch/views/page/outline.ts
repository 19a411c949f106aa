// The headings of the whole page, next to its text.
import { element, type ToolResult, textOf } from "../../../../packages/core/views/host.ts";

/** A heading with the index of its first character in the page's text. */
export interface Heading {
  readonly level: number;
  readonly title: string;
  readonly index: number;
}

/** The headings in an answer with metadata; none if it has another form. */
export function headingsOf(answer: ToolResult): Heading[] {
  let outline: unknown;
  try {
    ({ outline } = JSON.parse(textOf(answer)));
  } catch {
    return [];
  }
  if (!Array.isArray(outline)) return [];
  return (outline as Partial<Heading>[]).flatMap(({ level, title, index }) =>
    typeof level === "number" && typeof title === "string" && typeof index === "number"
      ? [{ level, title, index }]
      : [],
  );
}

/** The list, with the heading that is being read marked. */
export class Outline {
  readonly shown: HTMLElement;
  readonly #links: readonly HTMLElement[];

  /** @param open shows a heading's section */
  constructor(headings: readonly Heading[], open: (heading: Heading, position: number) => void) {
    const top = Math.min(...headings.map(({ level }) => level));
    this.#links = headings.map((heading, position) => {
      const link = element("a", { href: "#" }, heading.title);
      link.style.paddingLeft = `${0.6 + Math.min(heading.level - top, 4) * 0.9}em`;
      link.addEventListener("click", (event) => {
        event.preventDefault();
        open(heading, position);
      });
      return link;
    });
    this.shown = element("nav", { "aria-label": "Contents" }, ...this.#links);
  }

  /** Marks the heading at this position; none if it is negative. */
  mark(position: number): void {
    for (const [index, link] of this.#links.entries()) {
      if (index === position) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
    const current = this.#links[position];
    // Only the list scrolls, never the page around it.
    if (current !== undefined)
      this.shown.scrollTop = current.offsetTop - this.shown.clientHeight / 2;
  }
}
