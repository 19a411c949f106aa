import { nearest } from "@refmcp/boundary/answer";
import {
  ABSENCES,
  type Absence,
  type Assertion,
  type Base,
  type DIRECTIONS,
  NETWORK_SPEEDS,
  type NetworkSpeed,
  type NumberComparison,
  SEVERITIES,
  STATES,
  type State,
  type Target,
  type TextComparison,
  TIMES,
} from "./ast.ts";
import {
  comparisons,
  count,
  is,
  isSlug,
  pageNames,
  printComparison,
  regex,
  spacedPattern,
} from "./comparisons.ts";
import type { Taking } from "./nouns.ts";
import { awaited, printAssertion, readAssertion } from "./parse.ts";
import { made, quoted, type Reading, type Sentence, type Slot } from "./reader.ts";
import {
  checked,
  implied,
  isKnown,
  oneOf,
  only,
  patterned,
  same,
  several,
  textSlot,
} from "./slot-kinds.ts";
import { describeTarget, isBox, readTarget } from "./target.ts";
import {
  duration,
  fillValue,
  glob,
  isBaselineName,
  isStateName,
  KNOWN_ATTRIBUTES,
  key,
  nth,
  PERMISSIONS,
  range,
  reply,
  request,
  size,
  url,
} from "./values.ts";
import { BEING, KEYS, STATE_WORDS } from "./words.ts";

const targetSlot = (
  taking: Taking,
  fits: (target: Target, cost: number) => boolean = () => true,
  noun = "a target",
) =>
  only<Target>(
    { read: (sentence, at) => readTarget(sentence, at, taking), print: describeTarget, noun },
    fits,
  );
/** Roles that nothing is written into: `set header 'x' to 'y'` is not about a heading. */
const NOT_FIELDS =
  /^(?:heading|img|table|row|cell|region|navigation|status|tooltip|progressbar|list|listitem)$/;
/** Those that people do not mean when they write into something, unless they say so in the language's own words. */
const NOT_WRITABLE = /^(?:button|link|radio|checkbox|switch|option|form|tab)$/;
const fieldSlot = (not: RegExp): Slot<Target> =>
  targetSlot(
    "any",
    ({ base }, cost) =>
      base.kind === "role"
        ? !NOT_FIELDS.test(base.role) &&
          !(cost > 0 && not.test(base.role)) &&
          !(cost > 2 && base.role === "option")
        : base.kind !== "text" || cost <= 2,
    "a field or another target",
  );
const isButton = ({ base }: Target) => base.kind === "role" && base.role === "button";
const SAID_STATES: readonly State[] = [
  "enabled",
  "disabled",
  "checked",
  "unchecked",
  "visible",
  "hidden",
];
const targetOf = (base: Base): Target => ({ pick: undefined, base, inside: undefined });
const isLinked = ({ base }: Target) =>
  base.kind !== "quoted" ||
  base.isGuess !== true ||
  (/^[A-Z]/.test(base.text) &&
    nearest(/^\S+/.exec(base.text)?.[0] ?? "", Object.keys(KEYS)).length === 0);
/** The name of a page or the beginning of its path. */
const NOT_VISITED = /^[a-z]+(?:-[a-z]+)+$|(?:page|site)$|[\w-]\.[a-z]{2,5}$/;
const FILE = /[\w-]\.[a-z]{2,5}$/;
const FROM = /\sfrom\s/;
const isField = ({ base }: Target) => base.kind === "field";

const STATE_NAMES = Object.keys(STATES).filter((one): one is State => one in STATES);
const stateLists = Object.fromEntries(STATE_NAMES.map((one) => [STATE_WORDS[one] ?? one, one]));

const HOME = { how: "matches", value: "^[a-z]+:\\/\\/[^\\/]+\\/?(?:[?#].*)?$" } as const;
const STILL = /(?:now|also|still|currently)(?![\w-])/iy;

/** A slot with a comparison of texts. */
const comparing = (
  read: (sentence: Sentence, at: number) => readonly Reading<TextComparison>[],
): Slot<TextComparison> => ({ read, print: printComparison });
/** Texts alone, as comparisons. */
const as = (
  texts: readonly Reading<string>[],
  more: Partial<TextComparison> = {},
): Reading<TextComparison>[] => made(texts, (text) => ({ ...is(text), ...more }));
const assertion = (
  read: (sentence: Sentence, at: number) => readonly Reading<Assertion>[],
): Slot<Assertion> => ({ read, print: (one) => printAssertion(one), noun: "an assertion" });

/** The kinds of values in forms: how each is read, and printed in the language's own words. */
export const SLOTS = {
  target: targetSlot("element"),
  /** One that is named by its text alone, also without quotes. */
  clickable: targetSlot("any"),
  /** One that a step uses, but does not click. */
  acted: targetSlot("acted"),
  field: fieldSlot(/^$/),
  /** One that a text can be written into. */
  writable: fieldSlot(NOT_WRITABLE),
  /** One that is surely a field. */
  input: targetSlot("acted", ({ base }) => base.kind === "field" || base.kind === "css"),
  /** A field that people compare with a value: `field 'Email' contains 'x'`. */
  filled: targetSlot("element", isField),
  /** A checkbox, radio button or switch. */
  box: {
    ...targetSlot("acted"),
    // `select checkbox 'x'` checks it, though other things are clicked.
    read: (sentence, at) =>
      made(
        readTarget(sentence, at, "acted").filter(({ value }) => isBox(value)),
        (one) => one,
        -0.2,
      ),
  } satisfies Slot<Target>,
  /** What people see: also named by its text alone, without quotes. */
  seen: targetSlot("named"),
  /** What people see, but not a text. */
  thing: targetSlot("named", ({ base }) => base.kind !== "quoted" && base.kind !== "text"),
  /** A text that people see. */
  said: {
    read: (sentence, at) =>
      made(sentence.words(sentence.end(at, /\(/y) ?? at, undefined, 0), (text) =>
        targetOf({ kind: "text", text, exact: false }),
      ).map((one) => ({ ...one, at: sentence.end(one.at, /\)/y) ?? one.at })),
    print: describeTarget,
  } satisfies Slot<Target>,
  /** Without a word: the only dropdown or file, or the page's text. */
  dropdown: implied(targetOf({ kind: "role", role: "combobox", name: undefined, exact: false })),
  upload: implied(targetOf({ kind: "css", css: "input[type=file]" })),
  body: implied(targetOf({ kind: "css", css: "body" })),
  /** What people name only by what it does: a cookie banner's button, and `Log out`. */
  command: patterned(
    "",
    /(accept|reject|decline|allow)\s+(?:all\s+)?(?:the\s+)?cookies?(?!\w)|((?:log|sign)\s(?:out|off))(?!\w)/iy,
    ([, answer, text = ""]) =>
      targetOf(
        answer === undefined
          ? { kind: "quoted", text, exact: false }
          : { kind: "role", role: "button", name: answer, exact: false },
      ),
    describeTarget,
  ),
  /** What opens and closes above the page. */
  popup: targetSlot(
    "element",
    ({ base }) => base.kind === "role" && /dialog|tooltip|menu$|listbox/.test(base.role),
  ),
  /** Any element but a field: its text is compared. */
  texted: targetSlot("described", (target) => !isField(target)),
  /** What is counted, and what is around something; frames are around everything. */
  things: targetSlot("described"),
  plural: targetSlot("described", ({ base }) => base.kind === "element" && base.text.endsWith("s")),
  around: targetSlot("around"),
  /** One with a role and a name. */
  part: targetSlot("element", ({ base }) => base.kind === "role" && base.name !== undefined),
  /** One that has its text by itself. */
  described: targetSlot(
    "described",
    ({ base }) => base.kind === "element" || (base.kind === "role" && base.name !== undefined),
  ),
  /** A link or button, but not a key or anything that words in lower case may be. */
  linked: targetSlot("any", (target) => isLinked(target)),
  /** A tab of the page, by its name. */
  sheet: targetSlot(
    "any",
    ({ base }) => base.kind === "role" && base.role === "tab" && base.name !== undefined,
  ),
  /** What is gone to by its name, but not a page: nobody knows where that is. */
  visited: targetSlot(
    "any",
    (target) =>
      isLinked(target) && !("text" in target.base && NOT_VISITED.test(target.base.text ?? "")),
  ),
  /** What is opened by a click; nobody knows where a file is. */
  opened: targetSlot("any", ({ base }) => !("text" in base && FILE.test(base.text ?? ""))),
  /** What is chosen by a click; an option of a dropdown is not. */
  chosen: targetSlot(
    "any",
    ({ base, inside }) =>
      !(inside?.base.kind === "role" && /^(?:combobox|option|radio)$/.test(inside.base.role)) &&
      !("isGuess" in base && "text" in base && FROM.test(base.text ?? "")) &&
      !(base.kind === "role" && FROM.test(base.name ?? "")),
  ),
  /** A field with options; of radio buttons, one is checked. */
  listed: only<Target>(fieldSlot(/^$/), (target) => !isBox(target)),
  /** The only search field. */
  search: implied(targetOf({ kind: "field", text: "search", exact: false })),
  targets: several(targetSlot("element")),
  text: textSlot,
  /** One that must be in quotes. */
  quoted: {
    ...textSlot,
    read: (sentence, at) => sentence.words(at, undefined, 0),
  } satisfies Slot<string>,
  texts: several(textSlot),
  /** Options; `Option 1` is the name of one. */
  choices: several({
    ...textSlot,
    read: (sentence, at) =>
      sentence.words(
        sentence.end(
          at,
          /(?:the\s+)?(?:option|value)(?!\w)|(?:the\s+)?Option(?=\s+['"“])|the(?!\w)/y,
        ) ?? at,
      ),
  }),
  value: fillValue,
  /** In quotes. */
  given: only(fillValue, (_, cost) => cost === 0),
  givens: several({ ...textSlot, read: (sentence, at) => sentence.words(at, undefined, 0) }),
  compare: comparing((sentence, at) => comparisons(sentence, at, false)),
  /** Also without quotes after `is`. */
  compared: comparing((sentence, at) => comparisons(sentence, at, true)),
  /** Also without quotes, if it begins like a text or a number. */
  shown: comparing((sentence, at) =>
    comparisons(sentence, at, true).filter(
      ({ value: { value }, cost }) => cost === 0 || /^[A-Z\d$€£-]/.test(value),
    ),
  ),
  /** A text that it is not, one that is contained, and one that it is, also without a verb. */
  unwanted: comparing((sentence, at) => as(sentence.words(at), { negated: true })),
  contained: comparing((sentence, at) => as(sentence.words(at), { how: "contains" })),
  /** In quotes: what is in the page's text, and what is not. */
  holding: comparing((sentence, at) => as(sentence.words(at, undefined, 0), { how: "contains" })),
  lacking: comparing((sentence, at) =>
    as(sentence.words(at, undefined, 0), { how: "contains", negated: true }),
  ),
  /** No text, or any. */
  blank: patterned<TextComparison>(
    "",
    /is\s+(not\s+)?(?:empty|blank)(?![\w-])/iy,
    ([, not]) => ({ how: "matches", value: "^\\s*$", flags: "", negated: not !== undefined }),
    printComparison,
  ),
  wanted: {
    read: (sentence, at) => [
      ...comparisons(sentence, at, false),
      ...as(sentence.words(at, "a text in quotes, contains or matches")),
    ],
    print: (compare) =>
      compare.how === "is" && !compare.negated ? quoted(compare.value) : printComparison(compare),
  } satisfies Slot<TextComparison>,
  /** The beginning of a path, which the URL contains. */
  urlPart: comparing((sentence, at) =>
    made(
      url.read(sentence, at).filter(({ value }) => /^(?:https?:|\/)/.test(value)),
      // Each URL contains a slash.
      (value) => ({ ...is(value), ...(value === "/" ? HOME : { how: "contains" }) }),
    ),
  ),
  /** `the Login page`, by its title; `the login page`, by its URL. */
  pageName: comparing((sentence, at) =>
    pageNames(sentence, at)
      .filter(({ value }) => !isSlug(value) && !value.startsWith("/"))
      .map((one) => ({
        ...one,
        value: { how: "matches", value: spacedPattern(one.value), flags: "i", negated: false },
      })),
  ),
  pageSlug: comparing((sentence, at) =>
    as(
      pageNames(sentence, at).filter(({ value }) => isSlug(value)),
      { how: "contains" },
    ),
  ),
  /** Between slashes, or a text or words with the signs of a pattern. */
  pattern: comparing((sentence, at) => regex(sentence, at, true)),
  number: count,
  /** Without a word: at least one. */
  some: implied<NumberComparison>({ how: ">=", value: 1 }),
  be: {
    read(sentence, at) {
      for (const [pattern, isNegated] of BEING) {
        const end = sentence.end(at, pattern);
        if (end === undefined) continue;
        const again = isNegated
          ? undefined
          : sentence.end(end, /(?:not|no longer|never)(?![\w-])/iy);
        const next = sentence.end(again ?? end, STILL) ?? again ?? end;
        return [{ value: isNegated || again !== undefined, at: next, cost: 0 }];
      }
      return sentence.fail(at, "is");
    },
    print: (isNegated) => (isNegated ? "is not" : "is"),
  } satisfies Slot<boolean>,
  exists: oneOf<boolean>(
    "",
    {
      "exists|exist|should exist|must exist|to exist|does exist|do exist|is in the dom|should be in the dom": true,
      "does not exist|doesn't exist|do not exist|should not exist|shouldn't exist|must not exist|no longer exists": false,
    },
    (value) => (value ? "exists" : "does not exist"),
  ),
  /** `should be "enabled"`, of what is used and not read. */
  control: targetSlot("element", (target) => isField(target) || isBox(target) || isButton(target)),
  saidState: {
    read: (sentence, at) =>
      made(sentence.words(at, undefined, 0), (word) =>
        SAID_STATES.find((one) => one === word.toLowerCase()),
      ).flatMap(({ value, ...one }) =>
        value === undefined ? [] : [{ ...one, value, cost: -0.2 }],
      ),
    print: (state) => state,
  } satisfies Slot<State>,
  state: oneOf(STATE_NAMES.join(", "), stateLists),
  page: oneOf<"title" | "url">("", {
    "title|page title|new page title|the new page title|the title|the page title|browser title|document title|title of the page|title of this page|title this page|tab title":
      "title",
    "url|page url|new url|new page url|the url|current url|the current url|address|page address|browser url|the page url":
      "url",
  }),
  attribute: checked("a name", (name) => /^[A-Za-z_:-][\w:.-]*$/.test(name)),
  known: oneOf("", same(KNOWN_ATTRIBUTES)),
  absence: oneOf<Absence>(ABSENCES.join(", "), {
    ...same(ABSENCES),
    "errors in the console|errors in console|errors on the console|js errors|javascript errors|console error|browser console errors":
      "console errors",
    "warnings in the console|console warning": "console warnings",
    "uncaught errors|uncaught exceptions|page error|exceptions": "page errors",
    "network errors|network failures|failed network requests|failing requests|failed request|network error|404s|404 errors|broken requests":
      "failed requests",
    "missing images|broken image": "broken images",
    "horizontal scrollbar|horizontal scroll|horizontal scrolling|horizontal scroll bar|horizontal scrollbars":
      "horizontal overflow",
  }),
  severity: oneOf(SEVERITIES.join(", "), same(SEVERITIES)),
  time: oneOf<(typeof TIMES)[number]>("", {
    ...same(TIMES),
    "page load time|page load|loading time": "load time",
    "first contentful paint": "fcp",
    "largest contentful paint": "lcp",
    "time to first byte": "ttfb",
    "interaction to next paint": "inp",
    "total blocking time": "tbt",
  }),
  range,
  request,
  /** One that is clearly a URL. */
  endpoint: only(request, ({ glob }) => /^(?:[/*]|https?:)/.test(glob)),
  glob,
  url,
  /** One that is clearly a URL, or a page of the site. */
  address: only(url, (value) => /^[a-z]+:|[/.?#]/i.test(value) && !/\s/.test(value)),
  reply,
  duration,
  size,
  decimal: patterned("a number such as 0.1", /\d+(?:\.\d+)?(?![\w.])/y, ([text]) => Number(text)),
  percent: patterned(
    "a percentage, at most 100%",
    /(\d+(?:\.\d+)?)\s*%/y,
    ([, text]) => (Number(text) <= 100 ? Number(text) / 100 : undefined),
    (share) => `${Number((share * 100).toFixed(4))}%`,
  ),
  position: patterned(
    "the tab's number, from 1 in the order of opening",
    /(?:#|number\s+|with\s+index\s+)?["']?([1-9])["']?(?!\w)/iy,
    ([, text]) => Number(text),
  ),
  nth,
  key,
  edge: oneOf<"top" | "bottom">("top, bottom", {
    "top|the top|page top|top of the page|the top of the page|top of page|beginning": "top",
    "bottom|the bottom|the end|page bottom|bottom of the page|the bottom of the page|bottom of page|end of the page|the end of the page":
      "bottom",
  }),
  direction: oneOf<keyof typeof DIRECTIONS>("", same(["down", "up", "right", "left"])),
  pixels: patterned(
    "a number of pixels such as 300px",
    /(\d{1,5})\s*(?:px|pixels?)?(?!\w)/iy,
    ([, text]) => Number(text),
    (pixels) => `${pixels}px`,
  ),
  point: patterned(
    "a position in pixels such as 10, 20",
    /(?:position|point|coordinates?|offset)?\s*\(?\s*(\d{1,5})\s*,\s*(\d{1,5})\s*\)?(?!\w)/iy,
    ([, x, y]) => ({ x: Number(x), y: Number(y) }),
    ({ x, y }) => `${x}, ${y}`,
  ),
  header: checked("a header's name, but not Host or Cookie", (name) =>
    /^(?!(?:host|cookie|content-length)$)[\w-]{1,64}$/i.test(name),
  ),
  viewport: patterned(
    "a size from 50x50 to 4000x4000",
    /["'“]?(\d{2,4})\s*(?:x|×|by|,)\s*(\d{2,4})(?!\w)["'”]?/iy,
    ([, wide, high]) => {
      const [width, height] = [Number(wide), Number(high)];
      return width >= 50 && width <= 4_000 && height >= 50 && height <= 4_000
        ? { width, height }
        : undefined;
    },
    ({ width, height }) => `${width}x${height}`,
  ),
  place: patterned(
    "a latitude and a longitude in degrees",
    /(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)(?![\w.])/y,
    ([, north, east]) => {
      const [latitude, longitude] = [Number(north), Number(east)];
      return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
        ? { latitude, longitude }
        : undefined;
    },
    ({ latitude, longitude }) => `${latitude}, ${longitude}`,
  ),
  permission: checked(PERMISSIONS.join(", "), (name) => PERMISSIONS.includes(name)),
  zone: checked("a time zone such as 'Europe/Berlin'", (timeZone) =>
    isKnown(() => new Intl.DateTimeFormat("en", { timeZone })),
  ),
  locale: checked("a language tag such as 'de-DE'", (locale) =>
    isKnown(() => Intl.getCanonicalLocales(locale)),
  ),
  clock: checked(
    "a date and time such as '2026-12-24T18:00:00Z'",
    (time) => /^\d{4}-\d\d-\d\d/.test(time) && !Number.isNaN(Date.parse(time)),
  ),
  rate: patterned(
    "a factor from 1x to 20x",
    /(\d+(?:\.\d+)?)\s*(?:x|times)(?!\w)/iy,
    ([, text]) => (Number(text) >= 1 && Number(text) <= 20 ? Number(text) : undefined),
    (rate) => `${rate}x`,
  ),
  speed: oneOf(
    Object.keys(NETWORK_SPEEDS).join(", "),
    same(Object.keys(NETWORK_SPEEDS).filter((one): one is NetworkSpeed => one in NETWORK_SPEEDS)),
  ),
  savedState: checked("a name of letters, digits, _ and - (at most 64)", isStateName),
  baseline: checked(
    "a name of letters, digits, spaces, _, . and - (at most 80)",
    (name) => isBaselineName(name) && !name.endsWith("."),
  ),
  assertion: assertion((sentence, at) => readAssertion(sentence, at)),
  awaited: assertion((sentence, at) => awaited(sentence, at)),
};
