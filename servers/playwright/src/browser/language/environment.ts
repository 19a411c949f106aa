import { type Action, NETWORK_SPEEDS, type Reply } from "./ast.ts";
import { LanguageError, type Reader } from "./reader.ts";
import { duration, glob, requestPattern } from "./values.ts";

/** Names of saved states are file names: no separator, no dot at the beginning. */
const STATE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Permissions that Chromium lets a test grant (Playwright, `BrowserContext.grantPermissions`). */
const PERMISSIONS: readonly string[] = (
  "accelerometer ambient-light-sensor background-sync camera clipboard-read clipboard-write geolocation gyroscope " +
  "local-fonts magnetometer microphone midi midi-sysex notifications payment-handler storage-access"
).split(" ");

/** Steps for the page's environment: tabs, network, location, time, saved state. */
export const ENVIRONMENT_STEPS: Readonly<Record<string, (reader: Reader) => Action>> = {
  "switch to new tab": () => ({ kind: "switch tab", to: "new" }),
  "switch to tab": (reader) => {
    const found = reader.takesPattern(/[1-9](?!\w)/);
    if (found === undefined)
      throw reader.error("the tab's number, from 1 in the order of opening", "switch to tab 2");
    return { kind: "switch tab", to: Number(found[0]) };
  },
  "close tab": () => ({ kind: "close tab" }),
  mock: (reader) => {
    const example = "mock GET /api/users with 500";
    const pattern = requestPattern(reader, example);
    if (!reader.takes("with"))
      throw reader.error("with and a status, a text in quotes, or file and its name", example);
    return { kind: "mock", ...pattern, reply: replyOf(reader, example) };
  },
  block: (reader) => ({
    kind: "mock",
    method: undefined,
    glob: glob(reader, "block **/ads/**"),
    reply: "blocked",
  }),
  offline: () => ({ kind: "offline", offline: true }),
  online: () => ({ kind: "offline", offline: false }),
  geolocation: (reader) => {
    const start = reader.at;
    const found = reader.takesPattern(/(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)(?![\w.])/);
    const [latitude, longitude] = [Number(found?.[1]), Number(found?.[2])];
    if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180))
      throw new LanguageError(start, "a latitude and a longitude in degrees", "geolocation 52.52, 13.405");
    return { kind: "geolocation", latitude, longitude };
  },
  "grant permission": (reader) => ({
    kind: "permission",
    permission: checked(
      reader,
      "grant permission 'notifications'",
      (name) => PERMISSIONS.includes(name),
      PERMISSIONS.join(", "),
    ),
  }),
  "time zone": (reader) => ({
    kind: "time zone",
    value: checked(
      reader,
      "time zone 'Europe/Berlin'",
      (timeZone) => isKnown(() => new Intl.DateTimeFormat("en", { timeZone })),
      "a time zone such as 'Europe/Berlin'",
    ),
  }),
  locale: (reader) => ({
    kind: "locale",
    value: checked(
      reader,
      "locale 'de-DE'",
      (locale) => isKnown(() => Intl.getCanonicalLocales(locale)),
      "a language tag such as 'de-DE'",
    ),
  }),
  "clock at": (reader) => ({
    kind: "clock",
    time: checked(
      reader,
      "clock at '2026-12-24T18:00:00Z'",
      (time) => /^\d{4}-\d\d-\d\d/.test(time) && !Number.isNaN(Date.parse(time)),
      "a date and time such as '2026-12-24T18:00:00Z'",
    ),
  }),
  "fast forward": (reader) => ({ kind: "fast forward", milliseconds: duration(reader, "fast forward 5m") }),
  "throttle cpu": (reader) => {
    const start = reader.at;
    const rate = Number(reader.takesPattern(/(\d+(?:\.\d+)?)\s*x(?!\w)/i)?.[1]);
    if (!(rate >= 1 && rate <= 20))
      throw new LanguageError(start, "a factor from 1x to 20x", "throttle cpu 4x");
    return { kind: "throttle cpu", rate };
  },
  "throttle network": (reader) => {
    reader.takes("to");
    const speed = reader.takesOneOf(NETWORK_SPEEDS);
    if (speed === undefined) throw reader.error(NETWORK_SPEEDS.join(", "), "throttle network to slow 3g");
    return { kind: "throttle network", speed };
  },
  "save state": (reader) => ({ kind: "save state", name: stateName(reader, "save state 'admin'") }),
  "use state": (reader) => ({ kind: "use state", name: stateName(reader, "use state 'admin'") }),
};

function replyOf(reader: Reader, example: string): Reply {
  const status = reader.takesPattern(/[2-5]\d\d(?!\w)/)?.[0];
  const file = reader.takes("file") ? reader.string("mock /api/users with file 'users.json'") : undefined;
  const body = file === undefined && reader.isAtString() ? reader.string(example) : undefined;
  if (status === undefined && file === undefined && body === undefined)
    throw reader.error("a status from 200 to 599, a text in quotes, or file and its name", example);
  return { status: Number(status ?? 200), file, body };
}

/** A quoted text that passes a test. */
function checked(
  reader: Reader,
  example: string,
  isValid: (text: string) => boolean,
  expected: string,
): string {
  const start = reader.at;
  const text = reader.string(example);
  if (!isValid(text)) throw new LanguageError(start, expected, example);
  return text;
}

const stateName = (reader: Reader, example: string) =>
  checked(
    reader,
    example,
    (name) => STATE_NAME.test(name),
    "a name of letters, digits, _ and - (at most 64)",
  );

function isKnown(test: () => unknown): boolean {
  try {
    test();
    return true;
  } catch {
    return false;
  }
}
