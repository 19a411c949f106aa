import { awaited, printAssertion, readAssertion } from "./assertion.ts";
import {
  ABSENCES,
  NETWORK_SPEEDS,
  type NetworkSpeed,
  SEVERITIES,
  STATES,
  type State,
  type Target,
  TIMES,
} from "./ast.ts";
import { comparisons, count, is, isSlug, pageNames, printComparison } from "./comparisons.ts";
import type { Slots } from "./pattern.ts";
import type { Slot } from "./reader.ts";
import { checked, isKnown, oneOf, patterned, same, several, textSlot } from "./slot-kinds.ts";
import { describeTarget, isBox, quoted, readTarget, type Taking, words } from "./target.ts";
import {
  duration,
  fillValue,
  glob,
  isBaselineName,
  isStateName,
  KNOWN_ATTRIBUTES,
  key,
  negatable,
  nth,
  PERMISSIONS,
  range,
  reply,
  request,
  size,
  url,
} from "./values.ts";
import { BEING, STATE_WORDS } from "./words.ts";

const targetSlot = (taking: Taking, fits: (target: Target) => boolean = () => true): Slot<Target> => ({
  read: (sentence, at) => readTarget(sentence, at, taking).filter(({ value }) => fits(value)),
  print: describeTarget,
  noun: taking === "element" ? "a target" : "a field or another target",
});
/** Roles that nothing is written into: `set header 'x' to 'y'` is not about a heading. */
const NOT_FIELDS =
  /^(?:heading|img|table|row|cell|region|navigation|status|tooltip|progressbar|list|listitem)$/;
const isField = ({ base }: Target) => base.kind === "field";

const STATE_NAMES = Object.keys(STATES).filter((one): one is State => one in STATES);
const stateLists = Object.fromEntries(STATE_NAMES.map((one) => [STATE_WORDS[one] ?? one, one]));

export const SLOTS: Slots = {
  target: targetSlot("element"),
  clickable: targetSlot("any"),
  field: {
    ...targetSlot("any"),
    read: (sentence, at) =>
      readTarget(sentence, at, "any").filter(
        ({ value: { base }, cost }) =>
          !(base.kind === "role" && (NOT_FIELDS.test(base.role) || (cost > 2 && base.role === "option"))) &&
          !(base.kind === "text" && cost > 2),
      ),
  },
  box: {
    ...targetSlot("named", isBox),
    // `select checkbox 'x'` checks it, though other things are clicked.
    read: (sentence, at) =>
      readTarget(sentence, at).flatMap((one) => (isBox(one.value) ? [{ ...one, cost: one.cost - 0.2 }] : [])),
  },
  seen: targetSlot("named"),
  popup: targetSlot(
    "element",
    ({ base }) => base.kind === "role" && /dialog|tooltip|menu$|listbox/.test(base.role),
  ),
  filled: targetSlot("element", isField),
  texted: targetSlot("element", (target) => !isField(target)),
  targets: several(targetSlot("element")),
  text: textSlot,
  quoted: {
    read: (sentence, at) => words(sentence, at, "a text in quotes", 0),
    print: quoted,
    noun: "a text in quotes",
  },
  texts: several(textSlot),
  value: fillValue,
  given: {
    ...fillValue,
    read: (sentence, at) => fillValue.read(sentence, at).filter(({ cost }) => cost === 0),
  },
  givens: several({ ...textSlot, read: (sentence, at) => words(sentence, at, "a text in quotes", 0) }),
  compare: { read: (sentence, at) => comparisons(sentence, at, false), print: printComparison },
  compared: { read: (sentence, at) => comparisons(sentence, at, true), print: printComparison },
  unwanted: {
    read: (sentence, at) =>
      words(sentence, at, "a text in quotes").map((one) => ({
        ...one,
        value: { ...is(one.value), negated: true },
      })),
    print: printComparison,
  },
  contained: {
    read: (sentence, at) =>
      words(sentence, at, "a text in quotes").map((one) => ({
        ...one,
        value: { ...is(one.value), how: "contains" },
      })),
    print: printComparison,
  },
  urlPart: {
    read: (sentence, at) =>
      url
        .read(sentence, at)
        .filter(({ value }) => /^(?:https?:|\/)/.test(value))
        .map((one) => ({ ...one, value: { ...is(one.value), how: "contains" } })),
    print: printComparison,
  },
  pageName: {
    read: (sentence, at) => pageNames(sentence, at).filter(({ value }) => !isSlug(value.value)),
    print: printComparison,
  },
  pageSlug: {
    read: (sentence, at) =>
      pageNames(sentence, at)
        .filter(({ value }) => isSlug(value.value))
        .map((one) => ({ ...one, value: { ...is(one.value.value), how: "contains" } })),
    print: printComparison,
  },
  wanted: {
    read: (sentence, at) => [
      ...comparisons(sentence, at, false),
      ...words(sentence, at, "a text in quotes, contains or matches").map((one) => ({
        ...one,
        value: is(one.value),
      })),
    ],
    print: (compare) =>
      compare.how === "is" && !compare.negated ? quoted(compare.value) : printComparison(compare),
  },
  number: count,
  be: negatable(BEING, ["is", "is not"]),
  exists: oneOf(
    "",
    {
      "exists|exist|should exist|must exist|to exist|does exist|do exist|is in the dom|should be in the dom": true,
      "does not exist|doesn't exist|do not exist|should not exist|shouldn't exist|must not exist|no longer exists": false,
    },
    (value) => (value ? "exists" : "does not exist"),
  ),
  state: oneOf(STATE_NAMES.join(", "), stateLists),
  page: oneOf("", {
    "title|page title|the title|the page title|browser title|document title|title of the page|tab title":
      "title",
    "url|page url|the url|current url|the current url|address|page address|browser url|the page url": "url",
  }),
  attribute: checked("a name", (name) => /^[A-Za-z_:-][\w:.-]*$/.test(name)),
  known: oneOf("", same(KNOWN_ATTRIBUTES)),
  absence: oneOf(ABSENCES.join(", "), {
    ...same(ABSENCES),
    "errors in the console|errors in console|errors on the console|js errors|javascript errors|console error|browser console errors":
      "console errors",
    "warnings in the console|console warning": "console warnings",
    "uncaught errors|uncaught exceptions|page error|exceptions": "page errors",
    "network errors|network failures|failed network requests|failing requests|failed request|network error":
      "failed requests",
    "missing images|broken image": "broken images",
    "horizontal scrollbar|horizontal scroll|horizontal scrolling|horizontal scroll bar|horizontal scrollbars":
      "horizontal overflow",
  }),
  severity: oneOf(SEVERITIES.join(", "), same(SEVERITIES)),
  time: oneOf("", {
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
  endpoint: {
    ...request,
    read: (sentence, at) =>
      request.read(sentence, at).filter(({ value }) => /^(?:[/*]|https?:)/.test(value.glob)),
  },
  glob,
  url,
  address: {
    ...url,
    read: (sentence, at) =>
      url.read(sentence, at).filter(({ value }) => /^[a-z]+:|[/.?#]/i.test(value) && !/\s/.test(value)),
  },
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
  edge: oneOf("top, bottom", {
    "top|the top|page top|top of the page|the top of the page|top of page|beginning": "top",
    "bottom|the bottom|the end|page bottom|bottom of the page|the bottom of the page|bottom of page|end of the page|the end of the page":
      "bottom",
  }),
  direction: oneOf("", same(["down", "up", "right", "left"])),
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
    /(\d{2,4})\s*(?:x|×|by|,)\s*(\d{2,4})(?!\w)/iy,
    ([, wide, high]) => {
      const [width, height] = [Number(wide), Number(high)];
      return width >= 50 && width <= 4_000 && height >= 50 && height <= 4_000 ? { width, height } : undefined;
    },
    ({ width, height }) => `${width}x${height}`,
  ),
  place: patterned(
    "a latitude and a longitude in degrees",
    /(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)(?![\w.])/y,
    ([, north, east]) => {
      const [latitude, longitude] = [Number(north), Number(east)];
      return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : undefined;
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
  assertion: {
    read: (sentence, at) => readAssertion(sentence, at),
    print: (one) => printAssertion(one),
    noun: "an assertion",
  },
  awaited: { read: (sentence, at) => awaited(sentence, at), print: (one) => printAssertion(one) },
};
