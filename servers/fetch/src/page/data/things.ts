import type { PageDocument } from "../read/html/document.ts";
import { stripTags } from "../read/html/strip-tags.ts";

/** One object of a page's JSON-LD (schema.org). */
type Thing = Readonly<Record<string, unknown>>;

/** Longer JSON-LD is ignored. */
const MAX_JSON = 500_000;
const MAX_VALUE_CHARS = 20_000;

/** The objects of a page's JSON-LD, each object of a `@graph` by itself. */
export function jsonLdIn(document: PageDocument): Thing[] {
  const things: Thing[] = [];
  for (const script of [...document.querySelectorAll('script[type="application/ld+json"]')].slice(
    0,
    20,
  )) {
    const json = script.textContent ?? "";
    if (json.length > MAX_JSON) continue;
    try {
      collect(
        JSON.parse(json.replace(/^\s*(?:<!--|\/\/\s*<!\[CDATA\[)|(?:-->|\/\/\s*\]\]>)\s*$/g, "")),
        things,
      );
    } catch {
      // Many pages have invalid JSON-LD.
    }
  }
  return things;
}

function collect(value: unknown, things: Thing[]): void {
  for (const one of Array.isArray(value) ? value.slice(0, 100) : [value]) {
    if (!isThing(one)) continue;
    things.push(one);
    if ("@graph" in one && !("@type" in one)) collect(one["@graph"], things);
  }
}

/** The types of an object, without their vocabulary. */
export function typesOf(thing: Thing): string[] {
  const type = thing["@type"];
  return (Array.isArray(type) ? type : [type]).flatMap((one) =>
    typeof one === "string" ? (one.split(/[/#:]/).at(-1) ?? []) : [],
  );
}

/** A value of JSON-LD as text; the names of persons. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === "string") return value.replace(/\s+/g, " ").trim() || undefined;
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) {
    const texts = value.slice(0, 20).flatMap((one) => textIn(one) ?? []);
    return texts.length === 0 ? undefined : texts.join(", ");
  }
  return isThing(value) && "name" in value ? textIn(value.name) : undefined;
}

function isThing(value: unknown): value is Thing {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Text or HTML as text in one line. */
export function plainText(text: string): string {
  const written = /<[a-z/!][^<>]*>|&#?\w+;/i.test(text) ? stripTags(text) : text;
  return written.replace(/\s+/g, " ").trim().slice(0, MAX_VALUE_CHARS);
}

const MAX_FACTS = 5;
/** Videos shown in frames: the address of a frame, and that of its page. */
const VIDEOS: readonly (readonly [name: string, frame: RegExp, page: string])[] = [
  [
    "YouTube",
    /^https?:\/\/(?:www\.)?youtube(?:-nocookie)?\.com\/embed\/([\w-]{6,20})/,
    "https://www.youtube.com/watch?v=",
  ],
  ["Vimeo", /^https?:\/\/player\.vimeo\.com\/video\/(\d+)/, "https://vimeo.com/"],
];

/** What most frames have as their title. */
const PLAYER = /^(?:youtube |vimeo )?(?:embedded )?video(?: player)?$/i;

/** What a page's data says that its text often does not: prices, ratings, times, places, recipes, videos; the parts of one line each. */
export function highlightsIn(document: PageDocument, jsonLd: Thing[]): string[][] {
  const lines: string[][] = jsonLd
    .flatMap((thing) => [thing, ...(isThing(thing["mainEntity"]) ? [thing["mainEntity"]] : [])])
    .flatMap((thing) => [highlightOf(thing) ?? []]);
  for (const frame of document.querySelectorAll("iframe, lite-youtube")) {
    const video = frame.getAttribute("videoid");
    const given =
      frame.getAttribute("src") ||
      frame.getAttribute("data-src") ||
      frame.getAttribute("data-lazy-src");
    const src =
      video === null
        ? given?.replace(/^\/\//, "https://")
        : `https://www.youtube.com/embed/${video}`;
    for (const [name, pattern, page] of VIDEOS) {
      const id = pattern.exec(src ?? "")?.[1];
      const title = (frame.getAttribute("title") ?? frame.getAttribute("playlabel"))?.replace(
        PLAYER,
        "",
      );
      if (id !== undefined) lines.push(joined("Video", [name, title, page + id]));
    }
  }
  const distinct = new Map(lines.map((line) => [line.join(), line]));
  distinct.delete("");
  return [...distinct.values()].slice(0, MAX_FACTS);
}

const SOLD =
  /^(?:Product|ProductGroup|IndividualProduct|SoftwareApplication|MobileApplication|Book|Hotel|LocalBusiness|Restaurant)$/;

function highlightOf(thing: Thing): string[] | undefined {
  const types = typesOf(thing);
  const is = (pattern: RegExp) => types.some((type) => pattern.test(type));
  const name = textIn(thing["name"]);
  if (is(SOLD)) {
    const facts = [priceOf(thing), ratingOf(thing)];
    return facts.some((fact) => fact !== undefined)
      ? joined(types[0] ?? "", [name, ...facts])
      : undefined;
  }
  if (is(/^Recipe$/)) {
    const count = (key: string, one: string) => {
      const list = thing[key];
      return Array.isArray(list) && list.length > 1 ? `${list.length} ${one}` : undefined;
    };
    const servings = textIn(thing["recipeYield"]);
    return joined("Recipe", [
      name,
      servings && /^\d+$/.test(servings) ? `${servings} servings` : servings,
      durationOf(textIn(thing["totalTime"])),
      count("recipeIngredient", "ingredients"),
      count("recipeInstructions", "steps"),
      ratingOf(thing),
      "format data lists them",
    ]);
  }
  if (is(/Event$/)) {
    const times = [textAt(thing, "startDate"), textAt(thing, "endDate")]
      .filter(Boolean)
      .join(" to ");
    const address = ["location", "address"];
    const city = textAt(thing, ...address, "addressLocality") ?? textAt(thing, ...address);
    return joined("Event", [name, times, textAt(thing, "location"), city, priceOf(thing)]);
  }
  if (is(/^VideoObject$/))
    return joined("Video", [
      name,
      durationOf(textIn(thing["duration"])),
      textIn(thing["contentUrl"] ?? thing["embedUrl"]),
    ]);
  return undefined;
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
  const stock = of("availability")
    ?.split("/")
    .at(-1)
    ?.replace(/([a-z])([A-Z])/g, "$1 $2");
  const parts = [price && `${price} ${of("priceCurrency") ?? ""}`.trim(), stock?.toLowerCase()];
  return parts.filter(Boolean).join(", ") || undefined;
}

function ratingOf(thing: Thing): string | undefined {
  const of = (key: string) => textAt(thing, "aggregateRating", key);
  const [value, count] = [of("ratingValue"), of("reviewCount") ?? of("ratingCount")];
  return value && `rated ${value} of ${of("bestRating") ?? "5"}${count ? ` by ${count}` : ""}`;
}

/** PT1H30M → 1 h 30 min (ISO 8601). */
function durationOf(text: string | undefined): string | undefined {
  const [, ...counts] =
    /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(text ?? "") ?? [];
  const parts = ["d", "h", "min", "s"].map((unit, index) => `${counts[index] ?? 0} ${unit}`);
  return parts.filter((part) => !part.startsWith("0 ")).join(" ") || undefined;
}

function joined(type: string, parts: readonly (string | null | undefined)[]): string[] {
  return [type, ...parts.flatMap((part) => (part ? [plainText(part).slice(0, 200)] : []))];
}
