import type { DocumentPart } from "../document.ts";
import {
  all,
  elementsIn,
  escaped,
  first,
  type Parts,
  relationsOf,
  tableOf,
  textIn,
  type XmlElement,
  xmlOf,
} from "../xml.ts";

/** Placeholders repeated on every slide: date, footer, number. */
const REPEATED = ["dt", "ftr", "sldNum", "hdr", "sldImg"];
const TITLES = ["title", "ctrTitle"];

interface Slide {
  /** Whether the text of its body has bullets. */
  readonly isList: boolean;
  readonly parts: Parts;
  readonly relations: ReturnType<typeof relationsOf>;
}

/**
 * The slides of a presentation as HTML (ECMA-376, part 1, 19 and 20): for each its title as a heading, then texts,
 * tables, alternative texts of images and the speaker's notes, in the order of the slide.
 */
export function slidesOf(parts: Parts): DocumentPart[] {
  const main = "ppt/presentation.xml";
  const presentation = xmlOf(parts, main);
  const relations = relationsOf(parts, main);
  const names =
    presentation &&
    all(presentation, "p:sldId").map(({ attribs }) => relations.get(attribs["r:id"] ?? ""));
  return (names ?? []).map((slide, index) => ({
    name: String(index + 1),
    html: slideHtml(parts, slide?.target ?? ""),
  }));
}

function slideHtml(parts: Parts, name: string): string {
  const body = treeHtml(parts, name, true);
  const notes = [...relationsOf(parts, name).values()].find(({ type }) => type === "notesSlide");
  const said = notes === undefined ? "" : treeHtml(parts, notes.target, false);
  return `${body}${said === "" ? "" : `<h3>Notes</h3>${said}`}`;
}

function treeHtml(parts: Parts, name: string, isList: boolean): string {
  const xml = xmlOf(parts, name);
  const tree = xml && first(xml, "p:spTree");
  return tree === undefined
    ? ""
    : shapesHtml(tree, { parts, relations: relationsOf(parts, name), isList });
}

function shapesHtml(tree: XmlElement, slide: Slide): string {
  return elementsIn(tree)
    .map((shape) => {
      switch (shape.name) {
        case "p:sp":
          return textHtml(shape, slide);
        case "p:pic":
          return `<p>${escaped(first(shape, "p:cNvPr")?.attribs.descr ?? "")}</p>`;
        case "p:graphicFrame":
          return frameHtml(shape, slide);
        case "p:grpSp":
        case "mc:Choice":
          return shapesHtml(shape, slide);
        case "mc:AlternateContent":
          // All choices have the same content (ECMA-376, part 3).
          return elementsIn(shape)
            .slice(0, 1)
            .map((choice) => shapesHtml(choice, slide))
            .join("");
        default:
          return "";
      }
    })
    .join("");
}

function textHtml(shape: XmlElement, slide: Slide): string {
  const place = first(shape, "p:ph");
  const type = place && (place.attribs.type ?? "obj");
  const paragraphs = first(shape, "p:txBody");
  if (paragraphs === undefined || REPEATED.includes(type ?? "")) return "";
  if (TITLES.includes(type ?? "")) {
    const lines = all(paragraphs, "a:p").map((paragraph) => runsHtml(paragraph, slide));
    const title = lines.join(" ").trim();
    return title === "" ? "" : `<h2>${title}</h2>`;
  }
  return paragraphsHtml(paragraphs, slide.isList && (type === "obj" || type === "body"), slide);
}

/** Paragraphs, and lists if they have bullets, their own or those of the slide's body. */
function paragraphsHtml(text: XmlElement, isBody: boolean, slide: Slide): string {
  let html = "";
  const lists: string[] = [];
  for (const paragraph of all(text, "a:p")) {
    const words = runsHtml(paragraph, slide);
    if (words.trim() === "") continue;
    const style = first(paragraph, "a:pPr");
    const has = (name: string): boolean => style !== undefined && first(style, name) !== undefined;
    const list = has("a:buAutoNum") ? "ol" : "ul";
    const isItem = list === "ol" || has("a:buChar") || (isBody && !has("a:buNone"));
    const depth = isItem ? Math.min(9, Number(style?.attribs.lvl) || 0) + 1 : 0;
    while (lists.length > depth || (lists.length === depth && isItem && lists.at(-1) !== list))
      html += `</li></${lists.pop()}>`;
    if (isItem && lists.length === depth) html += "</li>";
    while (lists.length < depth) {
      lists.push(list);
      html += lists.length < depth ? `<${list}><li>` : `<${list}>`;
    }
    html += isItem ? `<li>${words}` : `<p>${words}</p>`;
  }
  const ends = lists.reverse().map((list) => `</li></${list}>`);
  return html + ends.join("");
}

function runsHtml(paragraph: XmlElement, { relations }: Slide): string {
  return elementsIn(paragraph)
    .map((run) => {
      if (run.name === "a:br") return "<br>";
      const text = [...all(run, "a:t"), ...all(run, "m:t")].map(textIn).join("");
      const style = first(run, "a:rPr");
      const id = style && first(style, "a:hlinkClick")?.attribs["r:id"];
      const link = relations.get(id ?? "")?.target ?? "";
      const isLink = /^https?:/i.test(link);
      return isLink ? `<a href="${escaped(link)}">${escaped(text)}</a>` : escaped(text);
    })
    .join("");
}

function frameHtml(frame: XmlElement, slide: Slide): string {
  const table = first(frame, "a:tbl");
  if (table === undefined) return "";
  return tableOf(all(table, "a:tr").map((row) => all(row, "a:tc").map(cellHtml)));

  function cellHtml(cell: XmlElement): string {
    const paragraphs = all(cell, "a:p").map((paragraph) => runsHtml(paragraph, slide));
    return paragraphs.join(" ");
  }
}
