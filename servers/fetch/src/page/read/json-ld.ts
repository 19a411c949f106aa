/** The JSON-LD of a page (schema.org): what it says for programs, such as prices, dates and authors. */
import type { PageDocument } from "../content/document.ts";
import { stripTags } from "./strip-tags.ts";

/** One object of a page's JSON-LD. */
export type Thing = Readonly<Record<string, unknown>>;

/** Longer JSON-LD is ignored. */
const MAX_JSON = 500_000;
const MAX_SCRIPTS = 20;
const MAX_VALUE_CHARS = 20_000;
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
  if (Array.isArray(value)) {
    const texts = value.slice(0, 20).flatMap((part) => textIn(part) ?? []);
    return texts.length === 0 ? undefined : texts.join(", ");
  }
  return isThing(value) && "name" in value ? textIn(value["name"]) : undefined;
}

/** Text or HTML as text in one line. */
export function plainText(text: string): string {
  const plain = /<[a-z/!][^<>]*>|&#?\w+;/i.test(text) ? stripTags(text) : text;
  return plain.replace(/\s+/g, " ").trim().slice(0, MAX_VALUE_CHARS);
}

const MAX_HIGHLIGHTS = 5;
const SOLD =
  /^(?:Product|ProductGroup|IndividualProduct|SoftwareApplication|MobileApplication|Book|Hotel|LocalBusiness|Restaurant)$/;

/** What a page's data says that its text often does not: prices, ratings, dates of events; the parts of one line each. */
export function highlightsIn(things: readonly Thing[]): string[][] {
  const lines = things
    .flatMap((thing) => [thing, ...(isThing(thing["mainEntity"]) ? [thing["mainEntity"]] : [])])
    .flatMap((thing) => [highlightOf(thing) ?? []]);
  const distinct = new Map(lines.map((line) => [line.join(), line]));
  distinct.delete("");
  return [...distinct.values()].slice(0, MAX_HIGHLIGHTS);
}

function highlightOf(thing: Thing): string[] | undefined {
  const [type = ""] = typesOf(thing);
  const sold = typesOf(thing).some((name) => SOLD.test(name));
  const isEvent = typesOf(thing).some((name) => name.endsWith("Event"));
  const times = [textAt(thing, "startDate"), textAt(thing, "endDate")].filter(Boolean).join(" to ");
  const facts = sold
    ? [priceOf(thing), ratingOf(thing)]
    : isEvent
      ? [times, textAt(thing, "location"), priceOf(thing)]
      : [];
  const parts = [textIn(thing["name"]), ...facts].filter((part) => part !== undefined);
  if (facts.every((fact) => !fact)) return undefined;
  return [isEvent ? "Event" : type, ...parts.map((part) => plainText(part).slice(0, 200))];
}

/** What a thing has below these keys, as text; of each list the first. */
function textAt(thing: Thing, ...keys: readonly string[]): string | undefined {
  let value: unknown = thing;
  for (const key of keys) {
    value = isThing(value) ? value[key] : undefined;
    if (Array.isArray(value)) value = value[0];
  }
  return textIn(value);
}

function priceOf(thing: Thing): string | undefined {
  const of = (key: string) =>
    textAt(thing, "offers", key) ?? textAt(thing, "offers", "priceSpecification", key);
  const [low, high] = [of("price") ?? of("lowPrice"), of("highPrice")];
  const price = high === undefined || high === low ? low : `${low} to ${high}`;
  const stock = of("availability")?.split("/").at(-1);
  const words = stock?.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  const parts = [price && `${price} ${of("priceCurrency") ?? ""}`.trim(), words];
  return parts.filter(Boolean).join(", ") || undefined;
}

function ratingOf(thing: Thing): string | undefined {
  const of = (key: string) => textAt(thing, "aggregateRating", key);
  const [value, count] = [of("ratingValue"), of("reviewCount") ?? of("ratingCount")];
  return value && `rated ${value} of ${of("bestRating") ?? "5"}${count ? ` by ${count}` : ""}`;
}
