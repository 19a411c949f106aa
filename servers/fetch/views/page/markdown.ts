// Renders Markdown as elements. marked parses it; HTML in it and everything else that is not Markdown stays text.
import { Marked, type MarkedToken, type Token, type Tokens } from "marked";
import { copyButton } from "../../../../packages/core/views/controls.ts";
import { element } from "../../../../packages/core/views/host.ts";

/** Renders links: the view decides whether and how they open. */
export interface Links {
  link(text: Node[], address: string): Node;
}

// Only what the page has as a link is one.
const marked = new Marked({ tokenizer: { url: () => undefined } });

/** The blocks of a Markdown text. */
export function blocksOf(markdown: string, links: Links): Node[] {
  const blocks = (tokens: readonly Token[] = []): Node[] =>
    tokens.flatMap((token) => block(token as MarkedToken));
  const inlines = (tokens: readonly Token[] = []): Node[] =>
    tokens.flatMap((token) => inline(token as MarkedToken));

  function block(token: MarkedToken): Node[] {
    switch (token.type) {
      case "heading":
        // The view's own heading is the first level.
        return [
          element(
            `h${Math.min(token.depth + 1, 6) as 2 | 3 | 4 | 5 | 6}`,
            {},
            ...inlines(token.tokens),
          ),
        ];
      case "paragraph":
        return [element("p", {}, ...inlines(token.tokens))];
      case "code":
        return [code(token.text)];
      case "blockquote":
        return [element("blockquote", {}, ...blocks(token.tokens))];
      case "list":
        return [list(token)];
      case "table":
        return [table(token)];
      case "hr":
        return [element("hr")];
      case "space":
      case "def":
        return [];
      default:
        return inline(token);
    }
  }

  function list({ ordered, start, items }: Tokens.List): HTMLElement {
    const made = items.map(({ tokens, task, checked }) => {
      const box = task ? [checked === true ? "☑ " : "☐ "] : [];
      return element("li", {}, ...box, ...blocks(tokens));
    });
    return ordered ? element("ol", { start: String(start) }, ...made) : element("ul", {}, ...made);
  }

  function table({ header, rows }: Tokens.Table): HTMLElement {
    const head = header.map((cell) => element("th", { scope: "col" }, ...inlines(cell.tokens)));
    const body = rows.map((row) =>
      element("tr", {}, ...row.map((cell) => element("td", {}, ...inlines(cell.tokens)))),
    );
    const made = element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...body),
    );
    return element(
      "div",
      { class: "table", tabindex: "0", role: "region", "aria-label": "Table" },
      made,
    );
  }

  function inline(token: MarkedToken): Node[] {
    switch (token.type) {
      case "strong":
        return [element("strong", {}, ...inlines(token.tokens))];
      case "em":
        return [element("em", {}, ...inlines(token.tokens))];
      case "del":
        return [element("s", {}, ...inlines(token.tokens))];
      case "codespan":
        return [element("code", {}, token.text)];
      case "br":
        return [element("br")];
      case "link":
        return [links.link(inlines(token.tokens), token.href)];
      case "image":
        return [element("span", { class: "picture" }, token.text || "Picture")];
      default:
        return "tokens" in token && token.tokens !== undefined
          ? inlines(token.tokens)
          : [document.createTextNode("text" in token ? token.text : token.raw)];
    }
  }

  return blocks(marked.lexer(markdown));
}

function code(text: string): HTMLElement {
  const copy = copyButton(() => text);
  copy.className = "copy";
  return element(
    "div",
    { class: "code" },
    copy,
    element("pre", { tabindex: "0" }, element("code", {}, text)),
  );
}
