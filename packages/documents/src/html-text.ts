import { compile, type FormatCallback } from "html-to-text";

const HIDDEN = ["script", "style", "head", "template", "noscript", "svg", "math"];
const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"];
/** What is nested deeper is left out. */
const MAX_DEPTH = 1_000;
/** Begins a cell until its row is complete. */
const CELL = "\u0001";

const heading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addInline(`${"#".repeat(Number(element.name?.[1]))} `);
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

/** How many rows are open. The rows of a table in a cell continue the outer row. */
let rows = 0;

const row: FormatCallback = (element, walk, builder) => {
  rows += 1;
  try {
    if (rows > 1) {
      walk(element.children, builder);
      return;
    }
    builder.openBlock({ leadingLineBreaks: 1 });
    walk(element.children, builder);
    const blockTransform = (text: string) =>
      text
        .split(CELL)
        .slice(1)
        .map((cell) => cell.trim().replace(/\s+/g, " "))
        .join(" | ");
    builder.closeBlock({ trailingLineBreaks: 1, blockTransform });
  } finally {
    rows -= 1;
  }
};

const cell: FormatCallback = (element, walk, builder) => {
  builder.addLiteral(CELL);
  walk(element.children, builder);
};

/**
 * The text of HTML: headings with `#`, list items with `-`, the cells of a table row separated by ` | `, and links followed
 * by their URL.
 */
export const htmlText: (html: string) => string = compile({
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, maxInputLength: Number.POSITIVE_INFINITY },
  formatters: { heading, row, cell },
  selectors: [
    ...HIDDEN.map((selector) => ({ selector, format: "skip" })),
    ...HEADINGS.map((selector) => ({ selector, format: "heading" })),
    {
      selector: "a",
      options: {
        linkBrackets: ["<", ">"],
        hideLinkHrefIfSameAsText: true,
        pathRewrite: (path: string) => (/^(?:https?|mailto):/i.test(path) ? path : ""),
      },
    },
    { selector: "img", options: { pathRewrite: () => "" } },
    { selector: "ul", options: { itemPrefix: "- " } },
    { selector: "table", format: "block" },
    { selector: "tr", format: "row" },
    ...["td", "th"].map((selector) => ({ selector, format: "cell" })),
    { selector: "blockquote", format: "block" },
    { selector: "hr", format: "skip" },
  ],
});
