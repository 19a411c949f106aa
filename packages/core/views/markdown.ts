// Renders Markdown as elements. Unknown syntax stays text, HTML above all.
import { element } from "./host.ts";

/** Renders links: the view decides whether and how they open. */
export interface Links {
  link(text: (Node | string)[], address: string): Node;
}

/** The blocks of a Markdown text. */
export function blocksOf(markdown: string, links: Links): HTMLElement[] {
  const lines = markdown.split("\n");
  const made: HTMLElement[] = [];
  const inline = (text: string) => inlineOf(text, links);
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const take = (matches: (line: string, index: number) => boolean) => {
      const from = at;
      while (at < lines.length && matches(lines[at] ?? "", at - from)) at += 1;
      return lines.slice(from, at);
    };
    const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (fence !== undefined) {
      at += 1;
      const code = take((one) => !one.trimStart().startsWith(fence));
      at += 1;
      made.push(element("pre", { tabindex: "0" }, element("code", {}, code.join("\n"))));
    } else if (heading !== null) {
      at += 1;
      const level = Math.min((heading[1] ?? "").length + 1, 6) as 2 | 3 | 4 | 5 | 6;
      made.push(element(`h${level}`, {}, ...inline(heading[2] ?? "")));
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      at += 1;
      made.push(element("hr"));
    } else if (/^\s*>/.test(line)) {
      const quoted = take((one) => /^\s*>/.test(one)).map((one) => one.replace(/^\s*> ?/, ""));
      made.push(element("blockquote", {}, ...blocksOf(quoted.join("\n"), links)));
    } else if (line.startsWith("|"))
      made.push(
        tableOf(
          take((one) => one.startsWith("|")),
          inline,
        ),
      );
    else if (ITEM.test(line))
      made.push(
        listOf(
          take((one, index) => index === 0 || ITEM.test(one) || /^\s+\S/.test(one)),
          links,
        ),
      );
    else if (line.trim() === "") at += 1;
    else {
      const text = take(
        (one, index) =>
          index === 0 ||
          (one.trim() !== "" && !/^(#{1,6}\s|\s*>|\||\s*(```|~~~))/.test(one) && !ITEM.test(one)),
      );
      made.push(element("p", {}, ...inline(text.join("\n"))));
    }
  }
  return made;
}

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+/;

/** A list; indented lines belong to the item above them. */
function listOf(lines: readonly string[], links: Links): HTMLElement {
  const indent = ITEM.exec(lines[0] ?? "")?.[1]?.length ?? 0;
  const items: string[][] = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item !== null && (item[1] ?? "").length <= indent) items.push([line.slice(item[0].length)]);
    else items.at(-1)?.push(line.replace(/^ {1,4}/, ""));
  }
  const first = /^\s*(\d+)/.exec(lines[0] ?? "")?.[1];
  const rows = items.map((item) => {
    const [only, ...more] = blocksOf(item.join("\n"), links);
    const isText = only?.tagName === "P";
    return element("li", {}, ...(only === undefined ? [] : isText ? [...only.childNodes] : [only]), ...more);
  });
  return first === undefined ? element("ul", {}, ...rows) : element("ol", { start: first }, ...rows);
}

function tableOf(lines: readonly string[], inline: (text: string) => (Node | string)[]): HTMLElement {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, "")
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll("\\|", "|"));
  const rows = lines.filter((line) => !/^\|[\s:|-]+\|?\s*$/.test(line)).map(cells);
  const [head = [], ...body] = rows;
  const table = element(
    "table",
    {},
    element(
      "thead",
      {},
      element("tr", {}, ...head.map((cell) => element("th", { scope: "col" }, ...inline(cell)))),
    ),
    element(
      "tbody",
      {},
      ...body.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, ...inline(cell))))),
    ),
  );
  return element("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" }, table);
}

const INLINE =
  /\\([\\`*_{}[\]()#+.!|<>~-])|(`+)([\s\S]*?[^`])\2(?!`)|(!?)\[((?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(<?([^\s)>]+)>?(?:\s+"[^"]*")?\)|(\*\*|__)(?=\S)([\s\S]*?\S)\7|(\*|_)(?=\S)([\s\S]*?\S)\9(?!\w)/;

function inlineOf(text: string, links: Links): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found !== null; found = INLINE.exec(rest)) {
    const [all, escaped, , code, picture, label, address, , strong, , emphasis] = found;
    parts.push(rest.slice(0, found.index));
    if (escaped !== undefined) parts.push(escaped);
    else if (code !== undefined) parts.push(element("code", {}, code.trim()));
    else if (address !== undefined)
      parts.push(
        picture === "!"
          ? element("span", { class: "picture" }, label === "" ? "Picture" : (label ?? ""))
          : links.link(inlineOf(label ?? "", links), address),
      );
    else if (strong !== undefined) parts.push(element("strong", {}, ...inlineOf(strong, links)));
    else parts.push(element("em", {}, ...inlineOf(emphasis ?? "", links)));
    rest = rest.slice(found.index + all.length);
  }
  parts.push(rest);
  return parts;
}
