/** The JSON-LD of a page (schema.org): what it says for programs, such as prices, dates and authors. */
import type { PageDocument } from "../content/document.ts";

/** One object of a page's JSON-LD. */
type Thing = Readonly<Record<string, unknown>>;

/** Longer JSON-LD is ignored. */
const MAX_JSON = 500_000;
const MAX_SCRIPTS = 20;
const JSON_LD = 'script[type="application/ld+json"]';

/** The objects of a page's JSON-LD, each object of a `@graph` by itself. */
export function jsonLdIn(document: PageDocument): Thing[] {
  return [...document.querySelectorAll(JSON_LD)].slice(0, MAX_SCRIPTS).flatMap((script) => {
    const json = script.textContent ?? "";
    const frame = /^\s*(?:<!--|\/\/\s*<!\[CDATA\[)|(?:-->|\/\/\s*\]\]>)\s*$/g;
    try {
      return json.length > MAX_JSON ? [] : thingsIn(JSON.parse(json.replace(frame, "")));
    } catch {
      // Many pages have invalid JSON-LD.
      return [];
    }
  });
}

function thingsIn(value: unknown): Thing[] {
  const values = Array.isArray(value) ? value.slice(0, 100) : [value];
  return values.filter(isThing).flatMap((thing) => {
    const isGraph = "@graph" in thing && !("@type" in thing);
    return isGraph ? [thing, ...thingsIn(thing["@graph"])] : [thing];
  });
}

function isThing(value: unknown): value is Thing {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The types of an object, without their vocabulary. */
export function typesOf(thing: Thing): string[] {
  const type = thing["@type"];
  return (Array.isArray(type) ? type : [type]).flatMap((name) =>
    typeof name === "string" ? (name.split(/[/#:]/).at(-1) ?? []) : [],
  );
}

/** A value as text; of persons and places the names. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === "string") return value.replace(/\s+/g, " ").trim() || undefined;
  if (typeof value === "number") return String(value);
  if (Array.isArray(value))
    return value
      .slice(0, 20)
      .flatMap((part) => textIn(part) ?? [])
      .join(", ");
  return isThing(value) && "name" in value ? textIn(value["name"]) : undefined;
}
