import { strFromU8, unzipSync } from "fflate";
import { DomHandler, DomUtils, Parser } from "htmlparser2";
import { DocumentError } from "./document.ts";

/** The parts of a document, by their name in the archive; those that are not text are empty. */
export type Parts = Readonly<Record<string, Uint8Array>>;
type XmlDocument = DomHandler["root"];
export type XmlElement = ReturnType<typeof DomUtils.getElementsByTagName>[number];
type XmlNode = XmlDocument | XmlElement;

/** More than in any real document; a larger archive is a zip bomb. */
const MAX_ENTRIES = 10_000;
const MAX_BYTES = 100_000_000;
const MAX_DEPTH = 1_000;
const MAX_ELEMENTS = 2_000_000;

/**
 * Extracts the text parts of an archive. No part may exceed its declared size.
 *
 * @throws DocumentError if it has too many or too large parts; the library's error if it is not an archive.
 */
export function partsOf(bytes: Uint8Array): Parts {
  let entries = 0;
  let size = 0;
  const emptyParts: Record<string, Uint8Array> = {};
  const texts = unzipSync(bytes, {
    filter({ name, originalSize }) {
      entries += 1;
      if (entries > MAX_ENTRIES) throw new DocumentError(`it has more than ${MAX_ENTRIES} parts`);
      if (!/\.(?:xml|rels|x?html?|opf)$|^mimetype$/i.test(name)) {
        emptyParts[name] = new Uint8Array();
        return false;
      }
      size += originalSize;
      if (size > MAX_BYTES)
        throw new DocumentError(`its parts are larger than ${MAX_BYTES / 1_000_000} MB`);
      return true;
    },
  });
  return { ...emptyParts, ...texts };
}

/** Counts elements and their depth, because a small file can contain millions. */
class BoundedHandler extends DomHandler {
  #elements = 0;

  override onopentag(name: string, attributes: { [key: string]: string }): void {
    this.#elements += 1;
    if (this.#elements > MAX_ELEMENTS)
      throw new DocumentError(`a part has more than ${MAX_ELEMENTS} elements`);
    super.onopentag(name, attributes);
    // The stack includes the root.
    if (this.tagStack.length > MAX_DEPTH)
      throw new DocumentError(`its elements are nested more than ${MAX_DEPTH} deep`);
  }
}

/**
 * A part's XML; undefined if there is no such part. Entities of a DTD are not expanded.
 *
 * @throws DocumentError for one with too many or too deeply nested elements.
 */
export function xmlOf(parts: Parts, name: string): XmlDocument | undefined {
  const part = parts[name];
  if (part === undefined) return undefined;
  const handler = new BoundedHandler();
  new Parser(handler, { xmlMode: true }).end(strFromU8(part));
  return handler.root;
}

/** @throws DocumentError for XML that is nested too deeply for libraries, whose parsers are recursive. */
export function checkDepth(xml: string): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentagname: () => {
        depth += 1;
        if (depth > MAX_DEPTH)
          throw new DocumentError(`its elements are nested more than ${MAX_DEPTH} deep`);
      },
      onclosetag: () => {
        depth -= 1;
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
}

/** All elements with a name, at any depth, in document order. */
export const all = (node: XmlNode, name: string): XmlElement[] =>
  DomUtils.getElementsByTagName(name, node.children);

export const first = (node: XmlNode, name: string): XmlElement | undefined => all(node, name)[0];

/** The text inside a node. */
export const textIn = (node: XmlNode): string => DomUtils.textContent(node);

/** The text of the first element with a name; undefined if there is none. */
export function factIn(node: XmlNode | undefined, name: string): string | undefined {
  const element = node && first(node, name);
  return (element && textIn(element).trim()) || undefined;
}

/** The elements directly inside another one. */
export const elementsIn = (element: XmlElement): XmlElement[] =>
  element.children.filter((child): child is XmlElement => child.type === "tag");

/** The targets of a part's relationships by id (ECMA-376, part 2, 8.3). */
export function relationsOf(
  parts: Parts,
  name: string,
): Map<string, { type: string; target: string }> {
  const relations = xmlOf(parts, name.replace(/([^/]*)$/, "_rels/$1.rels"));
  return new Map(
    (relations === undefined ? [] : all(relations, "Relationship")).map(({ attribs }) => {
      const { Id = "", Type = "", Target = "", TargetMode } = attribs;
      const target = TargetMode === "External" ? Target : (partName(name, Target) ?? Target);
      return [Id, { type: Type.slice(Type.lastIndexOf("/") + 1), target }];
    }),
  );
}

/** The name of a part that another part refers to by a relative URL; undefined if it is not a part. */
export function partName(from: string, href: string): string | undefined {
  if (!URL.canParse(href, `part:///${from}`)) return undefined;
  const url = new URL(href, `part:///${from}`);
  if (url.protocol !== "part:") return undefined;
  try {
    return decodeURIComponent(url.pathname.slice(1));
  } catch {
    return url.pathname.slice(1);
  }
}

/** Text as HTML. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A table of cells that contain HTML. */
export const tableOf = (rows: readonly (readonly string[])[]): string =>
  `<table role="table">${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</table>`;
