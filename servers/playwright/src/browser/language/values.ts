import { parseTargetUrl } from "./address.ts";
import type { FillValue, Reply, RequestPattern, StatusRange } from "./ast.ts";
import { STOP } from "./elements.ts";
import { made, quoted, type Slot } from "./reader.ts";
import { patterned, printed } from "./slot-kinds.ts";

export const fillValue: Slot<FillValue> = {
  read(sentence, at) {
    const secret = sentence.end(at, /secret(?![\w-])/iy);
    const expected = "a text in quotes, or secret and its name";
    if (secret === undefined) {
      const text = sentence.string(at, expected);
      return text === undefined ? [] : made([text], (value) => ({ text: value }));
    }
    const example = "fill label 'Password' with secret 'PASSWORD'";
    const name = sentence.string(secret);
    if (name === undefined) return [];
    if (!/^[A-Za-z]\w{0,63}$/.test(name.value))
      return sentence.fail(secret, "a name of letters, digits and _", { example, isSure: true });
    return [{ ...name, value: { secret: name.value } }];
  },
  noun: "a text in quotes, or secret and its name",
  print: (value) => ("secret" in value ? `secret ${quoted(value.secret)}` : quoted(value.text)),
};

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };
export const duration: Slot<number> = patterned(
  "a time such as 500ms or 2s, at most 10m",
  /(\d+(?:\.\d+)?)\s*(ms|s|m)(?!\w)/iy,
  ([, amount, unit = ""]) => {
    const milliseconds = Number(amount) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
    return milliseconds > 0 && milliseconds <= 600_000 ? milliseconds : undefined;
  },
  (ms) =>
    ms % 60_000 === 0 && ms > 60_000
      ? `${ms / 60_000}m`
      : ms % 1_000 === 0 || (ms > 1_000 && ms % 100 === 0)
        ? `${ms / 1_000}s`
        : `${ms}ms`,
);

const SIZES: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6 };
export const size = patterned(
  "a size such as 500 kB or 2 MB",
  /(\d+(?:\.\d+)?)\s*([a-z]+)(?!\w)/iy,
  ([, amount, unit = ""]) => {
    const bytes = Number(amount) * (SIZES[unit.toLowerCase()] ?? Number.NaN);
    return bytes > 0 ? bytes : undefined;
  },
  (bytes) =>
    bytes % 1e5 === 0
      ? `${bytes / 1e6} MB`
      : bytes % 100 === 0
        ? `${bytes / 1e3} kB`
        : `${bytes} B`,
);

export const range = patterned<StatusRange>(
  "a status such as 200 or 2xx",
  /([1-5])(\d\d|xx)(?!\w)/iy,
  ([, first = "", tail = ""]) =>
    tail.toLowerCase() === "xx"
      ? { from: Number(first) * 100, to: Number(first) * 100 + 99 }
      : { from: Number(first + tail), to: Number(first + tail) },
  ({ from, to }) => (from === to ? String(from) : `${from / 100}xx`),
);

const globWord = (value: string) =>
  /^[^\s'"“‘`]+$/.test(value) && !/[.,;]$/.test(value) ? value : quoted(value);

const METHOD = /(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s+/y;
export const request: Slot<RequestPattern> = {
  read(sentence, at) {
    const method = sentence.take(at, METHOD);
    const start = method?.at ?? at;
    const text = sentence.isString(start) ? sentence.string(start) : undefined;
    const word = sentence.take(start, /[^\s'"“‘]\S*/y);
    const glob = text?.value ?? (STOP.test(word?.found[0] ?? "") ? "" : word?.found[0]);
    if (glob === undefined || glob === "")
      return sentence.fail(start, "a URL pattern such as **/api/*");
    return [{ value: { method: method?.found[1], glob }, at: text?.at ?? word?.at ?? start }];
  },
  print: ({ method, glob }) => `${method === undefined ? "" : `${method} `}${globWord(glob)}`,
};

export const url: Slot<string> = {
  read(sentence, at) {
    const text = sentence.isString(at)
      ? sentence.quoted(at)[0]
      : made(sentence.word(at, "a URL, or a path on the same site"), (word) => word)[0];
    if (text === undefined) return [];
    if (!sentence.isString(at) && !/^(?:[a-z][a-z0-9+.-]*:|[/.?#])/i.test(text.value))
      return sentence.fail(at, "a URL, or a path on the same site");
    const parsed = parseTargetUrl(text.value, "http://localhost/");
    return typeof parsed === "string"
      ? sentence.fail(at, `an http or https URL, or a path (${parsed})`, { isSure: true })
      : [text];
  },
  print: (value) => (/^(?:https?:|\/)[^\s'"]*$/.test(value) ? value : quoted(value)),
};

export const reply: Slot<Extract<Reply, { readonly status: number }>> = {
  noun: "a status, a text in quotes, or file and its name",
  read(sentence, at) {
    const status = sentence.take(at, /([2-5]\d\d)(?!\w)/y);
    const next = status?.at ?? at;
    const keyword = sentence.end(next, /file(?![\w-])/iy);
    const start = keyword ?? next;
    const text = sentence.isString(start) ? sentence.string(start) : undefined;
    if (status === undefined && text === undefined)
      return sentence.fail(
        start,
        "a status from 200 to 599, a text in quotes, or file and its name",
      );
    if (keyword !== undefined && text === undefined)
      return sentence.fail(keyword, "a text in quotes");
    const isFile = keyword !== undefined;
    const value = {
      status: Number(status?.found[1] ?? 200),
      file: isFile ? text?.value : undefined,
      body: isFile ? undefined : text?.value,
    };
    return [{ value, at: text?.at ?? next }];
  },
  print: ({ status, body, file }) =>
    [
      status === 200 && (body ?? file) !== undefined ? "" : status,
      file === undefined ? "" : `file ${quoted(file)}`,
      body === undefined ? "" : quoted(body),
    ]
      .filter((one) => one !== "")
      .join(" "),
};

const MODIFIERS = ["Control", "Shift", "Alt", "Meta", "ControlOrMeta"];
const KEYS = new Map(
  [
    ...["Enter", "Escape", "Tab", "Space", "Backspace", "Delete", "Insert", "Home", "End"],
    ...["PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", ...MODIFIERS],
  ].map((key) => [key.toLowerCase(), key]),
);

/** Keys as Playwright names them, alone or with modifiers. */
function keyOf(text: string): string | undefined {
  const parts = text.length === 1 ? [text] : text.split(/\+(?=.)/);
  const named = parts.map((part) => {
    const known = KEYS.get(part.toLowerCase());
    if (known !== undefined || /^[!-~]$/.test(part)) return known ?? part;
    const isKey = /^(?:F(?:[1-9]|1[0-2])|Key[A-Z]|Digit\d)$/i.test(part);
    return isKey ? part.charAt(0).toUpperCase() + part.slice(1) : undefined;
  });
  const isModifier = (one: string | undefined) => MODIFIERS.some((modifier) => modifier === one);
  const last = named.at(-1);
  const isOne = last !== undefined && !(parts.length > 1 && isModifier(last));
  return isOne && named.slice(0, -1).every(isModifier) ? named.join("+") : undefined;
}
export const key: Slot<string> = {
  read(sentence, at) {
    const expected = "a key such as Enter, Escape, ArrowDown or Control+A";
    const text = sentence.take(at, /(["'])([^"']+|["'])\1(?=\s|$)|\S+/y);
    const known = keyOf(text?.found[2] ?? text?.found[0] ?? "");
    return known === undefined || text === undefined
      ? sentence.fail(at, expected)
      : [{ value: known, at: text.at }];
  },
  print: printed,
};

/** Permissions that Chromium lets a test grant (Playwright, `BrowserContext.grantPermissions`). */
export const PERMISSIONS: readonly string[] = (
  "accelerometer ambient-light-sensor background-sync camera clipboard-read clipboard-write geolocation gyroscope " +
  "local-fonts magnetometer microphone midi midi-sysex notifications payment-handler storage-access"
).split(" ");

/** Names of kept bases are file names: no separator, no dot at the beginning. */
export const isBaseName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}$/.test(name) && !name.includes("..");
