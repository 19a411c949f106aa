import { strFromU8, unzipSync } from "fflate";
import { DomUtils, parseDocument } from "htmlparser2";

/** The XML parts of a document, by their name in the archive. */
export type Parts = Readonly<Record<string, Uint8Array>>;
type XmlDocument = ReturnType<typeof parseDocument>;
export type XmlElement = ReturnType<typeof DomUtils.getElementsByTagName>[number];
type XmlNode = XmlDocument | XmlElement;

/** More than in any real document; a larger archive is a zip bomb. */
const MAX_ENTRIES = 10_000;
const MAX_BYTES = 100_000_000;

/**
 * Extracts the XML parts of an archive, none of which may exceed its declared size.
 *
 * @throws Error if it is not an archive, or has too many or too large parts.
 */
export function partsOf(bytes: Uint8Array): Parts {
  let entries = 0;
  let size = 0;
  return unzipSync(bytes, {
    filter({ name, originalSize }) {
      entries += 1;
      if (entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} parts`);
      if (!/\.(?:xml|rels)$/i.test(name)) return false;
      size += originalSize;
      if (size > MAX_BYTES) throw new Error(`its parts are larger than ${MAX_BYTES / 1_000_000} MB`);
      return true;
    },
  });
}

/** A part's XML; undefined if there is no such part. Entities of a DTD are not expanded. */
export function xmlOf(parts: Parts, name: string): XmlDocument | undefined {
  const part = parts[name];
  return part && parseDocument(strFromU8(part), { xmlMode: true });
}

/** All elements with a name, at any depth, in document order. */
export const all = (node: XmlNode, name: string): XmlElement[] =>
  DomUtils.getElementsByTagName(name, node.children);

export const first = (node: XmlNode, name: string): XmlElement | undefined => all(node, name)[0];

/** The targets of a part's relationships by id (ECMA-376, part 2, 8.3). */
export function relationsOf(parts: Parts, name: string): Map<string, { type: string; target: string }> {
  const relations = xmlOf(parts, name.replace(/([^/]*)$/, "_rels/$1.rels"));
  return new Map(
    (relations === undefined ? [] : all(relations, "Relationship")).map(({ attribs }) => {
      const { Id = "", Type = "", Target = "", TargetMode } = attribs;
      const isInside = TargetMode !== "External" && URL.canParse(Target, `part:///${name}`);
      const target = isInside ? decodeURI(new URL(Target, `part:///${name}`).pathname.slice(1)) : Target;
      return [Id, { type: Type.slice(Type.lastIndexOf("/") + 1), target }];
    }),
  );
}

/** Text as HTML. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** A table of cells that contain HTML. */
export const tableOf = (rows: readonly (readonly string[])[]): string =>
  `<table role="table">${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</table>`;
