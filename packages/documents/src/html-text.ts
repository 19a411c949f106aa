import { Parser } from "htmlparser2";

const HIDDEN = new Set(["script", "style", "head", "template", "noscript", "svg", "math"]);
const BLOCKS = new Set(
  "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr main nav ol section summary ul".split(
    " ",
  ),
);
/** Deeper lists are not indented further. */
const MAX_INDENT = 8;
/** How many of the last pieces of a line are examined for the URL of a link. */
const LINK_PIECES = 20;

/**
 * The text of HTML: headings with `#`, list items with `-`, the cells of a table row separated by ` | `, and links followed
 * by their URL. Linear in the length of the HTML, however deep its elements are nested.
 */
export function htmlText(html: string): string {
  const writer = new LineWriter();
  const lists: { ordered: boolean; count: number }[] = [];
  const links: string[] = [];
  let hidden = 0;

  function open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (/^h[1-6]$/.test(name)) {
      writer.gap(lists.length === 0);
      writer.mark(`${"#".repeat(Number(name[1]))} `);
    } else if (name === "li") {
      writer.block();
      const list = lists.at(-1);
      if (list !== undefined) list.count += 1;
      const indent = "  ".repeat(Math.max(0, Math.min(lists.length, MAX_INDENT) - 1));
      writer.mark(`${indent}${list?.ordered ? `${list.count}.` : "-"} `);
    } else if (name === "br") writer.break();
    else if (name === "tr") writer.beginRow();
    else if (name === "td" || name === "th") writer.cell();
    else if (name === "pre") writer.beginPre();
    else if (name === "a")
      links.push(/^(?:https?|mailto):/i.test(attributes.href ?? "") ? (attributes.href ?? "") : "");
    else if (name === "img") writer.put(attributes.alt ?? "");
    // The text of an item begins on the item's line.
    else if (!writer.isMarked && (name === "p" || name === "table")) writer.gap(lists.length === 0);
    else if (!writer.isMarked && BLOCKS.has(name)) writer.block();
    if (name === "ul" || name === "ol") lists.push({ ordered: name === "ol", count: 0 });
  }

  function close(name: string): void {
    if (name === "tr") writer.endRow();
    else if (name === "pre") writer.endPre();
    else if (name === "a") {
      const href = links.pop() ?? "";
      if (href !== "" && !writer.endsWith(href.replace(/^mailto:/i, ""))) writer.put(` <${href}>`);
    } else if (name === "ul" || name === "ol") {
      writer.block();
      lists.pop();
      writer.gap(lists.length === 0);
    } else if (name === "p" || name === "table" || /^h[1-6]$/.test(name))
      writer.gap(lists.length === 0);
    else if (name === "li" || BLOCKS.has(name)) writer.block();
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (HIDDEN.has(name)) hidden += 1;
        if (hidden === 0) open(name, attributes);
      },
      ontext(text) {
        if (hidden === 0) writer.text(text);
      },
      onclosetag(name) {
        if (HIDDEN.has(name)) hidden = Math.max(0, hidden - 1);
        else if (hidden === 0) close(name);
      },
    },
    { recognizeSelfClosing: true },
  );
  parser.end(html);
  return writer.finish();
}

/** Collects lines. The pieces of a line are joined only at its end, since looking at a growing text takes quadratic time. */
class LineWriter {
  readonly #lines: string[] = [];
  #pieces: string[] = [];
  /** Whether the line has only the mark of a heading or an item. */
  #marked = false;
  #rows = 0;
  #pres = 0;

  get isMarked(): boolean {
    return this.#marked;
  }

  put(text: string): void {
    if (text === "") return;
    this.#pieces.push(text);
    this.#marked = false;
  }

  /** Begins a line with the mark of a heading or an item. */
  mark(text: string): void {
    this.put(text);
    this.#marked = this.#pieces.length === 1;
  }

  text(text: string): void {
    if (this.#pres > 0 && this.#rows === 0) {
      const [first = "", ...rest] = text.split("\n");
      this.put(first);
      for (const next of rest) {
        this.#lines.push(this.#take().trimEnd());
        this.put(next);
      }
      return;
    }
    const words = text.replace(/[\s\u00a0]+/g, " ");
    this.put(this.#endsInSpace ? words.replace(/^ /, "") : words);
  }

  endsWith(text: string): boolean {
    return this.#pieces.slice(-LINK_PIECES).join("").includes(text);
  }

  /** Ends a line, unless it is in a row. */
  block(): void {
    if (this.#rows === 0) this.#end();
    else if (!this.#endsInSpace) this.put(" ");
  }

  /** Ends a paragraph; an empty line follows it unless it is in a list. */
  gap(isSeparate: boolean): void {
    this.block();
    if (this.#rows === 0 && isSeparate && this.#lines.length > 0 && this.#lines.at(-1) !== "")
      this.#lines.push("");
  }

  break(): void {
    if (this.#rows > 0) this.put(" ");
    else this.#end();
  }

  beginRow(): void {
    this.block();
    this.#rows += 1;
  }

  cell(): void {
    if (this.#pieces.length > 0) this.put(this.#endsInSpace ? "| " : " | ");
  }

  endRow(): void {
    this.#rows = Math.max(0, this.#rows - 1);
    if (this.#rows === 0) this.#end();
  }

  beginPre(): void {
    this.gap(true);
    this.#pres += 1;
  }

  endPre(): void {
    this.#end();
    this.#pres = Math.max(0, this.#pres - 1);
    this.gap(true);
  }

  finish(): string {
    this.#end();
    while (this.#lines.at(-1) === "") this.#lines.pop();
    return this.#lines.join("\n");
  }

  get #endsInSpace(): boolean {
    const last = this.#pieces.at(-1);
    return last === undefined || /\s$/.test(last.slice(-1));
  }

  #end(): void {
    const isEmpty = this.#marked;
    const text = this.#take().trimEnd();
    if (!isEmpty && text !== "") this.#lines.push(text);
  }

  #take(): string {
    const text = this.#pieces.join("");
    this.#pieces = [];
    this.#marked = false;
    return text;
  }
}
