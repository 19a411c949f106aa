/** What a page has for programs: its JSON-LD unchanged, each object under its type and name, and its tables. */
import type { ReadPage } from "../content/page.ts";
import { writeMarkdown } from "../write/markdown.ts";
import { tableIn } from "../write/table.ts";
import type { OutputOptions } from "../write/writing.ts";
import { jsonLdIn, typesOf } from "./json-ld.ts";
import { plainText } from "./strip-tags.ts";

const MAX_TABLES = 200;

/** A page's data as text. */
export function dataOf(page: ReadPage, options: OutputOptions): string {
  const things = jsonLdIn(page.document).flatMap((thing) => {
    const types = typesOf(thing).join(", ");
    const name = [thing["name"], thing["headline"]].find((text) => typeof text === "string");
    const title = [types, plainText(name ?? "")].filter(Boolean).join(": ").slice(0, 200);
    return types === "" ? [] : [`## ${title}\n${jsonOf(thing)}`];
  });
  const tables = [...page.document.querySelectorAll("table")]
    .filter((table) => tableIn(table) !== undefined)
    .slice(0, MAX_TABLES)
    .map((table, index) => `## Table ${index + 1}\n\n${writeMarkdown([table], page, options)}`);
  return [...things, ...tables].join("\n\n");
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(nested too deeply)";
  }
}
