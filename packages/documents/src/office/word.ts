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
  d: ["(", ")"],
  num: ["(", ")/"],
  den: ["(", ")"],
  sup: ["^(", ")"],
  sub: ["_(", ")"],
  deg: ["√(", ")"],
};

/** Turns formulas into runs of text, because mammoth omits them. */
function withFormulas(xml: string): string {
  return xml.replace(/<(\/?)m:([a-z]+)[^<>]*>/gi, (_, close: string, name: string) => {
    if (name === "r" || name === "t") return `<${close}w:${name}>`;
    const sign = FORMULA_SIGNS[name]?.[close === "" ? 0 : 1] ?? "";
    return sign === "" ? "" : `<w:r><w:t>${sign}</w:t></w:r>`;
  });
}
