/** What a page says for programs, as it is: its JSON-LD, each object under its type and name. */
import type { PageDocument } from "../content/document.ts";
import { jsonLdIn, typesOf } from "./json-ld.ts";
import { plainText } from "./strip-tags.ts";

/** A page's data as text. */
export function dataOf(document: PageDocument): string {
  const parts = jsonLdIn(document).flatMap((thing) => {
    const types = typesOf(thing).join(", ");
    const name = [thing["name"], thing["headline"]].find((text) => typeof text === "string");
    const title = [types, plainText(name ?? "")].filter(Boolean).join(": ").slice(0, 200);
    return types === "" ? [] : [`## ${title}\n${jsonOf(thing)}`];
  });
  return parts.join("\n\n");
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(nested too deeply)";
  }
}
