import { parseTargetUrl } from "./address.ts";
import { assertion } from "./assertion.ts";
import { type Action, type FillValue, NETWORK_SPEEDS, type Step, type Target } from "./ast.ts";
import { duration, Reader, requestPattern } from "./reader.ts";
import { target } from "./target.ts";

const EXAMPLE = "click button 'Save'";

/**
 * Parses one step: an action on the page, or `expect` and an assertion that must hold before the next step.
 *
 * @throws LanguageError with the position of the problem.
 */
export function parseStep(text: string): Step {
  const reader = new Reader(text).like(EXAMPLE);
  if (reader.atEnd) throw reader.error("a step");
  const words = reader.takesOneOf(Object.keys(ACTIONS));
  const parse = words === undefined ? undefined : ACTIONS[words];
  if (parse === undefined) {
    throw reader.unknownWord(
      "a step: goto, click, fill, type, press, check, select, upload, hover, wait for, scroll to, drag, accept dialog, go back, reload, viewport, screenshot, expect, switch to tab, mock, block, offline, clock, throttle, save state",
      Object.keys(ACTIONS),
    );
  }
  const action = parse(reader);
  if (!reader.atEnd) throw reader.like(EXAMPLE).error("the end of the step");
  return { text: text.trim(), action };
}

type Parse = (reader: Reader) => Action;

/** How a step is parsed after its first words, with an example for messages. */
const form =
  (example: string, parse: Parse): Parse =>
  (reader) =>
    parse(reader.like(example));
/** A step with a target and nothing else. */
const onTarget = (example: string, action: (target: Target) => Action): Parse =>
  form(example, (reader) => action(target(reader)));
/** A step with one quoted text, which must pass a test. */
const withText = (
  example: string,
  expected: string,
  isValid: (text: string) => boolean,
  action: (text: string) => Action,
): Parse => form(example, (reader) => action(reader.checked(expected, isValid)));

const goBack: Parse = () => ({ kind: "history", direction: "back" });
const goForward: Parse = () => ({ kind: "history", direction: "forward" });
const goto = form("goto /login", address);
const wait = form("wait for .spinner is hidden", waiting);
const scroll = form("scroll to footer", (reader) => {
  return { kind: "scroll", to: reader.takesOneOf(["top", "bottom"] as const) ?? target(reader) };
});

/** Permissions that Chromium lets a test grant (Playwright, `BrowserContext.grantPermissions`). */
const PERMISSIONS: readonly string[] = (
  "accelerometer ambient-light-sensor background-sync camera clipboard-read clipboard-write geolocation gyroscope " +
  "local-fonts magnetometer microphone midi midi-sysex notifications payment-handler storage-access"
).split(" ");

/** Names of saved states are file names: no separator, no dot at the beginning. */
const STATE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const state = (kind: "save state" | "use state"): Parse =>
  withText(
    `${kind} 'admin'`,
    "a name of letters, digits, _ and - (at most 64)",
    (name) => STATE_NAME.test(name),
    (name) => ({ kind, name }),
  );

/** Every step by its first words; longer phrases come before their own prefixes. */
const ACTIONS: Readonly<Record<string, Parse>> = {
  "double click": onTarget("double click `.row`", (target) => click(target, "left", 2)),
  "right click": onTarget("right click `.row`", (target) => click(target, "right", 1)),
  click: onTarget(EXAMPLE, (target) => click(target, "left", 1)),
  goto,
  "go to": goto,
  open: goto,
  "go back": goBack,
  "go forward": goForward,
  back: goBack,
  forward: goForward,
  reload: () => ({ kind: "reload" }),
  fill: form("fill label 'Email' with 'ada@example.com'", (reader) => {
    const field = target(reader);
    reader.needs("with and a text in quotes, or with secret and its name", "with");
    return { kind: "fill", target: field, value: fillValue(reader) };
  }),
  type: form("type 'ber' into 'City'", (reader) => {
    return { kind: "type", value: fillValue(reader), target: optionalTarget(reader, "into") };
  }),
  press: form("press Enter on label 'Email'", (reader) => {
    const start = reader.at;
    const key = reader.word();
    if (key === undefined || !isKey(key))
      throw reader.error("a key such as Enter, Escape, ArrowDown or Control+A", start);
    return { kind: "press", key, target: optionalTarget(reader, "on") };
  }),
  check: onTarget("check label 'I agree'", (target) => ({ kind: "check", target, checked: true })),
  uncheck: onTarget("uncheck label 'I agree'", (target) => ({ kind: "check", target, checked: false })),
  select: form("select 'Blue' in label 'Color'", (reader) => {
    const options = reader.strings();
    reader.needs("in and the list", "in", "from");
    return { kind: "select", options, target: target(reader) };
  }),
  upload: form("upload 'notes.txt' to label 'Attachment'", (reader) => {
    const files = reader.strings();
    reader.needs("to and the file field", "to", "in");
    return { kind: "upload", files, target: target(reader) };
  }),
  hover: onTarget("hover `nav .menu`", (target) => ({ kind: "hover", target })),
  focus: onTarget("focus label 'Email'", (target) => ({ kind: "focus", target })),
  clear: onTarget("clear label 'Email'", (target) => ({ kind: "clear", target })),
  "wait for": wait,
  wait,
  "scroll to": scroll,
  scroll,
  drag: form("drag `#card` to `#done`", (reader) => {
    const from = target(reader);
    reader.needs("to and the drop target", "to");
    return { kind: "drag", from, to: target(reader) };
  }),
  "accept dialog": form("accept dialog with 'yes'", (reader) => {
    return { kind: "dialog", accept: true, text: reader.takes("with") ? reader.string() : undefined };
  }),
  "dismiss dialog": () => ({ kind: "dialog", accept: false, text: undefined }),
  viewport: form("viewport 390x844", (reader) => {
    const found = reader.takesPattern(/(\d{2,4})\s*x\s*(\d{2,4})(?!\w)/i);
    const [width, height] = [Number(found?.[1]), Number(found?.[2])];
    if (!(width >= 50 && width <= 4_000 && height >= 50 && height <= 4_000))
      throw reader.error("a size from 50x50 to 4000x4000");
    return { kind: "viewport", width, height };
  }),
  screenshot: form("screenshot 'menu' of nav", (reader) => {
    const name = reader.isAtString() ? reader.string(undefined, "screenshot 'filled form'") : undefined;
    return { kind: "screenshot", name, target: optionalTarget(reader, "of") };
  }),
  expect: (reader) => ({ kind: "expect", assertion: assertion(reader) }),
  "switch to new tab": () => ({ kind: "switch tab", to: "new" }),
  "switch to tab": form("switch to tab 2", (reader) => {
    const found = reader.takesPattern(/[1-9](?!\w)/);
    if (found === undefined) throw reader.error("the tab's number, from 1 in the order of opening");
    return { kind: "switch tab", to: Number(found[0]) };
  }),
  "close tab": () => ({ kind: "close tab" }),
  mock: form("mock GET /api/users with 500", mock),
  block: form("block **/ads/**", (reader) => {
    return { kind: "mock", ...requestPattern(reader, false), reply: "blocked" };
  }),
  offline: () => ({ kind: "offline", offline: true }),
  online: () => ({ kind: "offline", offline: false }),
  geolocation: form("geolocation 52.52, 13.405", (reader) => {
    const start = reader.at;
    const found = reader.takesPattern(/(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)(?![\w.])/);
    const [latitude, longitude] = [Number(found?.[1]), Number(found?.[2])];
    if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180))
      throw reader.error("a latitude and a longitude in degrees", start);
    return { kind: "geolocation", latitude, longitude };
  }),
  "grant permission": withText(
    "grant permission 'notifications'",
    PERMISSIONS.join(", "),
    (name) => PERMISSIONS.includes(name),
    (permission) => ({ kind: "permission", permission }),
  ),
  "time zone": withText(
    "time zone 'Europe/Berlin'",
    "a time zone such as 'Europe/Berlin'",
    (timeZone) => isKnown(() => new Intl.DateTimeFormat("en", { timeZone })),
    (value) => ({ kind: "time zone", value }),
  ),
  locale: withText(
    "locale 'de-DE'",
    "a language tag such as 'de-DE'",
    (locale) => isKnown(() => Intl.getCanonicalLocales(locale)),
    (value) => ({ kind: "locale", value }),
  ),
  "clock at": withText(
    "clock at '2026-12-24T18:00:00Z'",
    "a date and time such as '2026-12-24T18:00:00Z'",
    (time) => /^\d{4}-\d\d-\d\d/.test(time) && !Number.isNaN(Date.parse(time)),
    (time) => ({ kind: "clock", time }),
  ),
  "fast forward": form("fast forward 5m", (reader) => {
    return { kind: "fast forward", milliseconds: duration(reader) };
  }),
  "throttle cpu": form("throttle cpu 4x", (reader) => {
    const start = reader.at;
    const rate = Number(reader.takesPattern(/(\d+(?:\.\d+)?)\s*x(?!\w)/i)?.[1]);
    if (!(rate >= 1 && rate <= 20)) throw reader.error("a factor from 1x to 20x", start);
    return { kind: "throttle cpu", rate };
  }),
  "throttle network": form("throttle network to slow 3g", (reader) => {
    reader.takes("to");
    const speed = reader.takesOneOf(NETWORK_SPEEDS);
    if (speed === undefined) throw reader.error(NETWORK_SPEEDS.join(", "));
    return { kind: "throttle network", speed };
  }),
  "save state": state("save state"),
  "use state": state("use state"),
};

function click(target: Target, button: "left" | "right", count: 1 | 2): Action {
  return { kind: "click", target, button, count };
}

const optionalTarget = (reader: Reader, word: string): Target | undefined =>
  reader.takes(word) ? target(reader) : undefined;

function address(reader: Reader): Action {
  const start = reader.at;
  const url = reader.word();
  if (url === undefined) throw reader.error("a URL, or a path on the same site");
  const parsed = parseTargetUrl(url, "http://localhost/");
  if (typeof parsed === "string") throw reader.error(`an http or https URL, or a path (${parsed})`, start);
  return { kind: "goto", url };
}

function fillValue(reader: Reader): FillValue {
  if (!reader.takes("secret")) return { text: reader.string("a text in quotes, or secret and its name") };
  const example = "fill label 'Password' with secret 'PASSWORD'";
  const start = reader.at;
  const secret = reader.string("the secret's name in quotes", example);
  if (!/^[A-Za-z]\w{0,63}$/.test(secret))
    throw reader.error("a name of letters, digits and _", start, example);
  return { secret };
}

/** Keys as Playwright names them, alone or with modifiers. */
function isKey(key: string): boolean {
  const parts = key.length === 1 ? [key] : key.split("+");
  const last = parts.pop() ?? "";
  const known =
    /^(?:[!-~]|F(?:[1-9]|1[0-2])|Enter|Escape|Tab|Space|Backspace|Delete|Insert|Home|End|Page(?:Up|Down)|Arrow(?:Up|Down|Left|Right)|Key[A-Z]|Digit\d)$/;
  return known.test(last) && parts.every((part) => /^(?:Control|Shift|Alt|Meta|ControlOrMeta)$/.test(part));
}

function waiting(reader: Reader): Action {
  if (/^\d/.test(reader.rest)) return { kind: "wait", milliseconds: duration(reader.like("wait for 500ms")) };
  if (reader.takes("network idle")) return { kind: "wait for load", state: "idle" };
  if (reader.takes("load")) return { kind: "wait for load", state: "load" };
  const start = reader.at;
  const waited = lone(reader);
  const text = `${reader.text.slice(start).trim()} is visible`;
  if (waited !== undefined) {
    const check = { kind: "state", target: waited, state: "visible", negated: false } as const;
    return { kind: "wait for", assertion: { text, negated: false, check, within: undefined } };
  }
  reader.at = start;
  if (reader.atEnd) throw reader.error("a time, a target, or an assertion");
  return { kind: "wait for", assertion: assertion(reader) };
}

/** A target that nothing follows, or undefined. */
function lone(reader: Reader): Target | undefined {
  try {
    const found = target(reader);
    return reader.atEnd ? found : undefined;
  } catch {
    return undefined;
  }
}

function mock(reader: Reader): Action {
  const pattern = requestPattern(reader);
  reader.needs("with and a status, a text in quotes, or file and its name", "with");
  const status = reader.takesPattern(/[2-5]\d\d(?!\w)/)?.[0];
  const file = reader.takes("file")
    ? reader.string(undefined, "mock /api/users with file 'users.json'")
    : undefined;
  const body = file === undefined && reader.isAtString() ? reader.string() : undefined;
  if (status === undefined && file === undefined && body === undefined)
    throw reader.error("a status from 200 to 599, a text in quotes, or file and its name");
  return { kind: "mock", ...pattern, reply: { status: Number(status ?? 200), file, body } };
}

function isKnown(test: () => unknown): boolean {
  try {
    test();
    return true;
  } catch {
    return false;
  }
}
