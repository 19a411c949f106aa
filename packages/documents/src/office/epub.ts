import { strFromU8 } from "fflate";
import { type Document, DocumentError } from "../document.ts";
import { all, factIn, first, type Parts, partName, xmlOf } from "../xml.ts";

const MAX_NAME = 100;

/**
 * A book as a part for each chapter of its spine (EPUB 3.3).
 *
 * @throws DocumentError if its chapters are encrypted, or it has none.
 */
export function epubDocument(parts: Parts): Document {
  const encryption = xmlOf(parts, "META-INF/encryption.xml");
  // Fonts are often encrypted without protecting the text.
  const isLocked = ["enc:CipherReference", "CipherReference"]
    .flatMap((name) => (encryption === undefined ? [] : all(encryption, name)))
    .some(({ attribs }) => /\.x?html?$/i.test(attribs.URI ?? ""));
  if (isLocked) throw new DocumentError("it is encrypted (DRM)");
  const container = xmlOf(parts, "META-INF/container.xml");
  const main = (container && first(container, "rootfile")?.attribs["full-path"]) ?? "";
  const book = xmlOf(parts, main);
  if (book === undefined) throw new DocumentError("it has no table of its parts");
  // The names can have a namespace prefix.
  const elements = (name: string) => [...all(book, name), ...all(book, `opf:${name}`)];
  const items = new Map(elements("item").map(({ attribs }) => [attribs.id, attribs.href ?? ""]));
  const chapters = elements("itemref").flatMap(({ attribs }) => {
    const name = partName(main, items.get(attribs.idref) ?? "");
    const part = name === undefined ? undefined : parts[name];
    return part === undefined ? [] : [strFromU8(part)];
  });
  if (chapters.length === 0) throw new DocumentError("it has no chapters");
  return {
    label: "EPUB book",
    unit: "chapter",
    parts: chapters.map((html) => ({ name: titleOf(html), html: bodyOf(html) })),
    facts: { title: factIn(book, "dc:title"), creator: factIn(book, "dc:creator") },
  };
}

const bodyOf = (html: string): string => {
  const begin = /<body(?:\s[^<>]*)?>/i.exec(html);
  const from = begin === null ? 0 : begin.index + begin[0].length;
  const to = html.lastIndexOf("</body");
  return html.slice(from, to > from ? to : undefined);
};

function titleOf(html: string): string {
  const heading = /<h[1-3](?:\s[^<>]*)?>([\s\S]{0,2000}?)<\/h[1-3]>/i.exec(html)?.[1];
  const text = (heading ?? "").replace(/<[^<>]*>/g, " ").replace(/\s+/g, " ");
  return text.trim().slice(0, MAX_NAME);
}
