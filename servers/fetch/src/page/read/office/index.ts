import { dateOf } from "../date.ts";
import type { Metadata } from "../metadata.ts";
import { first, type Parts, partsOf, xmlOf } from "./parts.ts";

interface OfficeDocument {
  readonly html: string;
  readonly facts: Metadata;
}

/**
 * A Word, Excel or PowerPoint document (ECMA-376) as HTML, and its metadata.
 *
 * @throws Error for a file that is damaged, or has too many or too large parts.
 */
export async function officeDocument(bytes: Uint8Array): Promise<OfficeDocument> {
  const parts = partsOf(bytes);
  const has = (folder: string): boolean => Object.keys(parts).some((name) => name.startsWith(folder));
  // Each is loaded on first use.
  const html = has("word/")
    ? (await import("./word.ts")).wordHtml(parts)
    : has("xl/")
      ? (await import("./excel.ts")).excelHtml(parts)
      : (await import("./slides.ts")).slidesHtml(parts);
  return { html: await html, facts: factsOf(parts) };
}

/** The core properties (ECMA-376, part 2, 8.3). */
function factsOf(parts: Parts): Metadata {
  const core = xmlOf(parts, "docProps/core.xml");
  const of = (name: string, most: number): string | undefined => {
    const element = core && first(core, name);
    const [text] = element?.children ?? [];
    return text !== undefined && "data" in text
      ? String(text.data).trim().slice(0, most) || undefined
      : undefined;
  };
  return {
    title: of("dc:title", 300),
    byline: of("dc:creator", 200),
    modified: dateOf(of("dcterms:modified", 40)),
  };
}
