import { strFromU8, strToU8, zipSync } from "fflate";
import mammoth from "mammoth";
import { checkDepth, type Parts } from "../xml.ts";

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
