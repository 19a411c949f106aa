import { Parser } from "htmlparser2";

const HIDDEN = new Set(["script", "style", "head", "template", "noscript", "svg", "math"]);
const BLOCKS = new Set(
  "address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form header hr main nav ol p section summary table ul".split(
    " ",
  ),
);
/** Deeper lists are not indented further. */
const MAX_INDENT = 8;

/**
 * The text of HTML: headings with `#`, list items with `-`, the cells of a table row separated by ` | `, and links followed
 * by their URL. Linear in the length of the HTML, however deep its elements are nested.
 */
export function htmlText(html: string): string {
  const lines: string[] = [];
  let line = "";
  let hidden = 0;
  let pre = 0;
  let row = 0;
  const lists: { ordered: boolean; count: number }[] = [];
  const links: string[] = [];

  /** Ends the line, if it has text. */
  const end = (): void => {
    const text = pre > 0 ? line.trimEnd() : line.replace(/[ \t]+$/, "");
    if (text.trim() !== "") lines.push(text);
    line = "";
  };
  /** Ends a paragraph, unless it is in a cell. */
  const block = (): void => {
    if (row > 0) {
      if (line !== "" && !/\s$/.test(line)) line += " ";
      return;
    }
    end();
  };
  const gap = (): void => {
    block();
    if (row === 0 && lines.length > 0 && lines.at(-1) !== "" && lists.length === 0) lines.push("");
  };

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (HIDDEN.has(name)) hidden += 1;
        if (hidden > 0) return;
        if (/^h[1-6]$/.test(name)) {
          gap();
          line = `${"#".repeat(Number(name[1]))} `;
        } else if (name === "br") {
          if (row > 0) line += " ";
          else end();
        } else if (name === "li") {
          block();
          const list = lists.at(-1);
          if (list !== undefined) list.count += 1;
          const indent = "  ".repeat(Math.max(0, Math.min(lists.length, MAX_INDENT) - 1));
          line += `${indent}${list?.ordered ? `${list.count}.` : "-"} `;
        } else if (name === "tr") {
          block();
          row += 1;
        } else if (name === "td" || name === "th") {
          if (line !== "") line = `${line.trimEnd()} | `;
        } else if (name === "pre") {
          gap();
          pre += 1;
        } else if (name === "a") {
          links.push(/^(?:https?|mailto):/i.test(attributes.href ?? "") ? (attributes.href ?? "") : "");
        } else if (name === "img") {
          line += attributes.alt ?? "";
        } else if (name === "p" || name === "table") {
          // The text of an item begins on the item's line.
          if (!/^ *(?:-|\d+\.) $/.test(line)) gap();
        } else if (BLOCKS.has(name)) {
          if (!/^ *(?:-|\d+\.) $/.test(line)) block();
        }
        if (name === "ul" || name === "ol") lists.push({ ordered: name === "ol", count: 0 });
      },
      ontext(text) {
        if (hidden > 0) return;
        if (pre > 0 && row === 0) {
          const [first = "", ...rest] = text.split("\n");
          line += first;
          for (const next of rest) {
            lines.push(line);
            line = next;
          }
          return;
        }
        const words = text.replace(/[\s\u00a0]+/g, " ");
        line += line === "" || /\s$/.test(line) ? words.replace(/^ /, "") : words;
      },
      onclosetag(name) {
        if (HIDDEN.has(name)) hidden = Math.max(0, hidden - 1);
        if (hidden > 0) return;
        if (/^h[1-6]$/.test(name)) {
          if (/^#+ *$/.test(line)) line = "";
          gap();
        } else if (name === "tr") {
          row = Math.max(0, row - 1);
          if (row === 0) end();
        } else if (name === "pre") {
          end();
          pre = Math.max(0, pre - 1);
          gap();
        } else if (name === "a") {
          const href = links.pop() ?? "";
          if (href !== "" && !line.includes(href.replace(/^mailto:/i, ""))) line += ` <${href}>`;
        } else if (name === "ul" || name === "ol") {
          block();
          lists.pop();
          gap();
        } else if (name === "p" || name === "table") {
          gap();
        } else if (name === "li" || BLOCKS.has(name)) block();
      },
    },
    { recognizeSelfClosing: true },
  );
  parser.end(html);
  end();
  while (lines.at(-1) === "") lines.pop();
  return lines.join("\n");
}
