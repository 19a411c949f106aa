import {
  ABSENCES,
  type Assertion,
  type DIRECTIONS,
  NETWORK_SPEEDS,
  type NetworkSpeed,
  SEVERITIES,
  STATES,
  type State,
  type Target,
  type TextComparison,
  TIMES,
} from "./ast.ts";
import { comparisons, count, printComparison } from "./comparisons.ts";
import { awaited, printAssertion, readAssertion } from "./parse.ts";
import { made, quoted, type Reading, type Sentence, type Slot } from "./reader.ts";
import { checked, isKnown, oneOf, patterned, same, several, textSlot } from "./slot-kinds.ts";
import { describeTarget, readTarget } from "./target.ts";
import {
  duration,
  fillValue,
  key,
  PERMISSIONS,
  range,
  reply,
  request,
  size,
  url,
} from "./values.ts";

const targetSlot = (purpose: "check" | "step", noun = "a target"): Slot<Target> => ({
  read: (sentence, at) => readTarget(sentence, at, purpose),
  print: describeTarget,
  noun,
});

const STATE_NAMES = Object.keys(STATES).filter((one): one is State => one in STATES);

const assertion = (
  read: (sentence: Sentence, at: number) => readonly Reading<Assertion>[],
): Slot<Assertion> => ({ read, print: (one) => printAssertion(one), noun: "an assertion" });

/** The kinds of values in forms: how each is read and printed. */
export const SLOTS = {
  target: targetSlot("check"),
  /** One that a step uses. */
  acted: targetSlot("step"),
  field: targetSlot("step", "a field or another target"),
  text: textSlot,
  texts: several(textSlot),
  value: fillValue,
  compare: { read: comparisons, print: printComparison } satisfies Slot<TextComparison>,
  /** Also `is empty`. */
  compared: {
    read(sentence, at) {
      const empty = sentence.take(at, /is\s+(not\s+)?empty(?![\w-])/iy);
      if (empty === undefined) return comparisons(sentence, at);
      const negated = empty.found[1] !== undefined;
      return [{ value: { how: "matches", value: "^\\s*$", flags: "", negated }, at: empty.at }];
    },
    print: printComparison,
  } satisfies Slot<TextComparison>,
  wanted: {
    read: (sentence, at) =>
      sentence.isString(at)
        ? made(sentence.quoted(at), (value) => ({ how: "is", value, flags: "", negated: false }))
        : [
            ...comparisons(sentence, at),
            ...sentence.fail(at, "a text in quotes, contains or matches"),
          ],
    print: (compare) =>
      compare.how === "is" && !compare.negated ? quoted(compare.value) : printComparison(compare),
  } satisfies Slot<TextComparison>,
  number: count,
  be: oneOf<boolean>("is", { "is not": true, is: false }, (isNegated) =>
    isNegated ? "is not" : "is",
  ),
  exists: oneOf<boolean>("", { exists: true, "does not exist": false }, (value) =>
    value ? "exists" : "does not exist",
  ),
  state: oneOf<State>(STATE_NAMES.join(", "), {
    ...same(STATE_NAMES),
    displayed: "visible",
    shown: "visible",
  }),
  page: oneOf<"title" | "url">("", same(["title", "url"])),
  attribute: checked("a name", (name) => /^[A-Za-z_:-][\w:.-]*$/.test(name)),
  absence: oneOf(ABSENCES.join(", "), same(ABSENCES)),
  severity: oneOf(SEVERITIES.join(", "), same(SEVERITIES)),
  time: oneOf("", same(TIMES)),
  range,
  request,
  url,
  reply,
  duration,
  size,
  decimal: patterned("a number such as 0.1", /\d+(?:\.\d+)?(?![\w.])/y, ([text]) => Number(text)),
  position: patterned(
    "the tab's number, from 1 in the order of opening",
    /[1-9](?!\w)/y,
    ([text]) => Number(text),
  ),
  key,
  edge: oneOf("top, bottom", same(["top", "bottom"])),
  direction: oneOf<keyof typeof DIRECTIONS>("", same(["down", "up", "right", "left"])),
  pixels: patterned(
    "a number of pixels such as 300px",
    /(\d{1,5})\s*(?:px)?(?!\w)/iy,
    ([, text]) => Number(text),
    (pixels) => `${pixels}px`,
  ),
  point: patterned(
    "a position in pixels such as 10, 20",
    /(\d{1,5})\s*,\s*(\d{1,5})(?!\w)/y,
    ([, x, y]) => ({ x: Number(x), y: Number(y) }),
    ({ x, y }) => `${x}, ${y}`,
  ),
  header: checked("a header's name, but not Host or Cookie", (name) =>
    /^(?!(?:host|cookie|content-length)$)[\w-]{1,64}$/i.test(name),
  ),
  viewport: patterned(
    "a size from 50x50 to 4000x4000",
    /(\d{2,4})\s*[x×]\s*(\d{2,4})(?!\w)/iy,
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
    /(\d+(?:\.\d+)?)\s*x(?!\w)/iy,
    ([, text]) => (Number(text) >= 1 && Number(text) <= 20 ? Number(text) : undefined),
    (rate) => `${rate}x`,
  ),
  speed: oneOf(
    Object.keys(NETWORK_SPEEDS).join(", "),
    same(Object.keys(NETWORK_SPEEDS).filter((one): one is NetworkSpeed => one in NETWORK_SPEEDS)),
  ),
  assertion: assertion((sentence, at) => readAssertion(sentence, at)),
  awaited: assertion((sentence, at) => awaited(sentence, at)),
};
