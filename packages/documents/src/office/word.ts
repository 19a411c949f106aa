import { strFromU8, strToU8, zipSync } from "fflate";
import mammoth from "mammoth";
import { all, checkDepth, escaped, type Parts, textIn, xmlOf } from "../xml.ts";

/** Converts a text document to HTML. mammoth gets an archive built from the checked parts. */
export async function wordHtml(parts: Parts): Promise<string> {
  const fixed = Object.entries(parts).map(([name, part]) => {
    if (!name.startsWith("word/")) return [name, part];
    const xml = strFromU8(part);
    checkDepth(xml);
    return [name, xml.includes("<m:oMath") ? strToU8(withFormulas(xml)) : part];
  });
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(zipSync(Object.fromEntries(fixed), { level: 0 })) },
    {
      styleMap: ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"],
      // Images become their alternative text.
      convertImage: mammoth.images.imgElement(async () => ({ src: "" })),
    },
  );
  return value
    .replaceAll("<table>", '<table role="table">')
    .replace(/<input type="checkbox"( checked="checked")? \/>/g, (_, checked) =>
      checked ? "☒ " : "☐ ",
    );
}

const MARGINS = /^word\/(header|footer|comments)\d*\.xml$/;

/** Headers, footers and comments, which mammoth leaves out: a paragraph for each different one. */
export function marginsHtml(parts: Parts): string {
  const lines = new Set<string>();
  for (const name of Object.keys(parts).sort()) {
    const kind = MARGINS.exec(name)?.[1];
    const xml = kind === undefined ? undefined : xmlOf(parts, name);
    if (xml === undefined) continue;
    const label = kind === "comments" ? "Comment" : kind === "header" ? "Header" : "Footer";
    for (const paragraph of all(xml, "w:p")) {
      const text = all(paragraph, "w:t").map(textIn).join("");
      if (text.trim() !== "") lines.add(`<p>${label}: ${escaped(text)}</p>`);
    }
  }
  return [...lines].join("");
}

/** Characters around the parts of a formula, as in Unicode's linear format (Unicode Technical Note 28). */
const FORMULA_SIGNS: Readonly<Record<string, readonly [begin: string, end: string]>> = {
  num: ["(", ")/"],
  den: ["(", ")"],
  sup: ["^(", ")"],
  sub: ["_(", ")"],
  deg: ["√(", ")"],
};

/** Turns formulas into runs of text, because mammoth omits them. */
function withFormulas(xml: string): string {
  const run = (text: string): string => (text === "" ? "" : `<w:r><w:t>${text}</w:t></w:r>`);
  const attributeOf = (tags: string, name: string): string | undefined =>
    new RegExp(`<m:${name} m:val="([^"<>]*)"`).exec(tags)?.[1];
  const ends: string[] = [];
  return xml.replace(
    /<m:d>(?:<m:dPr>[\s\S]{0,1000}?<\/m:dPr>)?|<(\/?)m:([a-z]+)[^<>]*>/gi,
    (tags: string, close: string | undefined, name: string | undefined) => {
      if (name === "r" || name === "t") return `<${close}w:${name}>`;
      if (name === "d") return run(ends.pop() ?? "");
      const isPlain = tags === `<${close}m:${name}>`;
      const sign = isPlain ? FORMULA_SIGNS[name ?? ""]?.[close === "/" ? 1 : 0] : undefined;
      if (name !== undefined) return run(sign ?? attributeOf(tags, "chr") ?? "");
      ends.push(attributeOf(tags, "endChr") ?? ")");
      return run(attributeOf(tags, "begChr") ?? "(");
    },
  );
}
