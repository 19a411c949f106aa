import { parseTargetUrl } from "./address.ts";
import type { FillValue, Reply, RequestPattern, StatusRange } from "./ast.ts";
import { pageNames } from "./comparisons.ts";
import { STOP } from "./elements.ts";
import { made, quoted, type Reading, type Sentence, type Slot } from "./reader.ts";
import { patterned, printed } from "./slot-kinds.ts";
import { KEYS, NUMBERS, ORDINALS, SIZES, UNITS } from "./words.ts";

const SECRET = /(?:the\s+)?secret(?![\w-])\s*/iy;
export const fillValue: Slot<FillValue> = {
  read(sentence, at) {
    const secret = sentence.end(at, SECRET);
    if (secret === undefined || !sentence.isString(secret)) {
      const start =
        sentence.end(at, /(?:the\s+)?(?:text|value|string|number|word)\s+(?=['"“‘])/iy) ?? at;
      return made(sentence.words(start, "a text in quotes, or secret and its name"), (text) => ({
        text,
      }));
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

export const duration: Slot<number> = {
  ...patterned(
    "a time such as 500ms or 2s, at most 10m",
    /["'“]?(\d+(?:\.\d+)?|an?|one|two|three|five|ten)["'”]?\s*([a-z]+)["'”]?(?!\w)/iy,
    ([, amount = "", unit = ""]) => {
      const number = /^\d/.test(amount)
        ? Number(amount)
        : (NUMBERS.find(([pattern]) => amount.search(new RegExp(pattern.source, "i")) === 0)?.[1] ??
          1);
      const milliseconds = number * (UNITS[unit.toLowerCase()] ?? Number.NaN);
      return milliseconds > 0 && milliseconds <= 600_000 ? milliseconds : undefined;
    },
    (ms) =>
      ms % 60_000 === 0 && ms > 60_000
        ? `${ms / 60_000}m`
        : ms % 1_000 === 0 || (ms > 1_000 && ms % 100 === 0)
          ? `${ms / 1_000}s`
          : `${ms}ms`,
  ),
};

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
  /(?:(?:is|be|are|of|equals?|equal\s+to|=+)\s*)?([1-5])(\d\d|xx)(?!\w)/iy,
  ([, first = "", tail = ""]) =>
    tail.toLowerCase() === "xx"
      ? { from: Number(first) * 100, to: Number(first) * 100 + 99 }
      : { from: Number(first + tail), to: Number(first + tail) },
  ({ from, to }) => (from === to ? String(from) : `${from / 100}xx`),
);

const globWord = (value: string) =>
  /^[^\s'"“‘`]+$/.test(value) && !/[.,;]$/.test(value) ? value : quoted(value);
export const glob: Slot<string> = {
  read(sentence, at) {
    const text = sentence.isString(at) ? sentence.string(at) : undefined;
    if (text !== undefined && text.value !== "") return [text];
    const word = sentence.take(at, /[^\s'"“‘]\S*/y);
    return word === undefined || STOP.test(word.found[0])
      ? sentence.fail(at, "a URL pattern such as **/api/*")
      : [{ value: word.found[0], at: word.at, cost: 0 }];
  },
  print: globWord,
};

const METHOD = /(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s+(?:requests?\s+(?:to\s+)?)?/y;
export const request: Slot<RequestPattern> = {
  read(sentence, at) {
    const method = sentence.take(at, METHOD);
    return glob
      .read(sentence, method?.at ?? at)
      .map((one) => ({ ...one, value: { method: method?.found[1], glob: one.value } }));
  },
  print: ({ method, glob: url }) => `${method === undefined ? "" : `${method} `}${globWord(url)}`,
};

/** `the login page` as a path: /login. */
function pagePaths(sentence: Sentence, at: number): Reading<string>[] {
  const whole = sentence.isString(at) ? sentence.string(at) : undefined;
  const [, inner] = /^(\S.*)\s(?:page|screen)$/i.exec(whole?.value ?? "") ?? [];
  if (inner !== undefined && whole !== undefined) return [{ ...whole, value: pathOf(inner) }];
  const home =
    sentence.end(
      at,
      /(?:the\s+|my\s+)?["'“]?(?:home|main|landing|start|index|front)["'”]?\s?-?(?:page|screen)(?![\w-])/iy,
    ) ??
    sentence.end(
      at,
      /(?:the\s+)?(?:(?:[\w-]+\s+)?homepage|home|site|website|application|app|web\s?page|page\s+under\s+test)(?=\s*[.,]?$)/iy,
    );
  if (home !== undefined) return [{ value: "/", at: home, cost: 1 }];
  return pageNames(sentence, at).map(({ value, cost, ...end }) =>
    value.startsWith("/")
      ? { value, cost: 0, ...end }
      : { value: pathOf(value), cost: cost + 0.3, ...end },
  );
}

/** A page's name as people write it in its path: `Log in` is /login. */
const pathOf = (name: string) =>
  `/${encodeURI(
    name
      .toLowerCase()
      .replace(/^(?:the|application|app|site|website)\s+/, "")
      .replace(/\blog\s(?=in$|out$)/, "log")
      .replace(/\s+/g, "-"),
  )}`;

export const url: Slot<string> = {
  read(sentence, at) {
    const start =
      sentence.end(
        at,
        /(?:the\s+)?(?:(?:a\s+)?page\s+with\s+(?:the\s+)?)?(?:(?:relative\s+)?(?:url|address|page|home\s?page|site|website|path|link))\s+(?=['"“‘]|https?:|\/)/iy,
      ) ?? at;
    const isText = sentence.isString(start) || sentence.text.charAt(start) === "`";
    const [text] = isText ? sentence.words(start, undefined, 0) : [];
    const word =
      text === undefined
        ? sentence.take(
            start,
            /(?:[a-z][a-z0-9+.-]*:|\/|\.{1,2}\/|\?|#)\S*|[\w-]+(?:\.[\w-]+)*(?:\/\S*|\.(?:com|org|net|io|dev|html?|php|aspx?)\b\S*)/iy,
          )
        : undefined;
    const named = text === undefined && word === undefined ? pagePaths(sentence, at) : [];
    if (named.length > 0) return named;
    if (text !== undefined && !/^(?:[a-z]+:|[/.?#])|\.\w+|\//i.test(text.value)) {
      const paths = pagePaths(sentence, at);
      if (paths.length > 0) return paths;
    }
    const value = text?.value ?? word?.found[0];
    if (value === undefined || value === "")
      return sentence.fail(start, "a URL, or a path on the same site");
    if (/^(?:[\w-]+\.)+(?:com|org|net|io|dev)(?:[/?#]|$)/i.test(value))
      return sentence.fail(start, "http:// or https:// before the name of a site", {
        isSure: true,
      });
    if (/^[A-Z][\w ]*$/.test(value))
      return sentence.fail(start, "a URL, or a path on the same site, not the name of a page", {
        isSure: true,
      });
    const parsed = parseTargetUrl(value, "http://localhost/");
    if (typeof parsed === "string")
      return sentence.fail(start, `an http or https URL, or a path (${parsed})`, { isSure: true });
    const end = text?.at ?? word?.at ?? start;
    return [
      {
        value,
        at: sentence.end(end, /(?:url|page|website|site|address|path)(?![\w-])/iy) ?? end,
        cost: 0,
      },
    ];
  },
  print: (value) => (/^(?:https?:|\/)[^\s'"]*$/.test(value) ? value : quoted(value)),
};

export const reply: Slot<Extract<Reply, { readonly status: number }>> = {
  noun: "a status, a text in quotes, or file and its name",
  read(sentence, at) {
    const status = sentence.take(
      at,
      /(?:status\s+(?:code\s+)?)?([2-5]\d\d)(?!\w)(?:\s+and\s+(?:body\s+)?)?/iy,
    );
    const next = status?.at ?? at;
    const keyword = sentence.end(next, /file(?![\w-])\s*/iy);
    const start = keyword ?? sentence.end(next, /(?:body|json|text)(?![\w-])\s*/iy) ?? next;
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
    return [{ value, at: text?.at ?? next, cost: 0 }];
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

const nthDigits = patterned(
  "the number of a request such as 2nd, at most 999th",
  /(\d{1,3})(?:st|nd|rd|th)(?![\w-])/iy,
  ([, text]) => (Number(text) > 0 ? Number(text) : undefined),
  (number) =>
    `${number}${/1[1-3]$/.test(String(number)) ? "th" : (["th", "st", "nd", "rd"][number % 10] ?? "th")}`,
);
export const nth: Slot<number> = {
  ...nthDigits,
  read(sentence, at) {
    const start = sentence.end(at, /the\s+/iy) ?? at;
    for (const [pattern, value] of ORDINALS) {
      const end = value === "last" ? undefined : sentence.end(start, pattern);
      if (end !== undefined)
        return [{ value: value === "first" ? 1 : Number(value), at: end, cost: 0 }];
    }
    return nthDigits.read(sentence, start);
  },
};

/** Keys as Playwright names them, alone or with modifiers. */
function keyOf(text: string): string | undefined {
  const parts = text.length === 1 ? [text] : text.split(/\s*(?:\+|-(?=.))\s*/);
  const named = parts.map((part) => {
    const word = part
      .toLowerCase()
      .replace(/[\s_]+/g, " ")
      .replace(/\s*key$/, "");
    if (KEYS[word] !== undefined || /^[!-~]$/.test(part)) return KEYS[word] ?? part;
    const isKey = /^(?:F(?:[1-9]|1[0-2])|Key[A-Z]|Digit\d)$/i.test(part);
    return isKey ? part.charAt(0).toUpperCase() + part.slice(1) : undefined;
  });
  const last = named.at(-1);
  const isModifier = (one: string | undefined) =>
    /^(?:Control|Shift|Alt|Meta|ControlOrMeta)$/.test(one ?? "");
  if (
    last === undefined ||
    (parts.length > 1 && isModifier(last)) ||
    !named.slice(0, -1).every(isModifier)
  )
    return undefined;
  return named.join("+");
}
export const key: Slot<string> = {
  read(sentence, at) {
    const start =
      sentence.end(at, /(?:the\s+)?(?:(?:keyboard\s+)?(?:key|keys|shortcut)\s+)?(?=\S)/iy) ?? at;
    const readings = sentence.isString(start)
      ? [sentence.string(start)].filter((one) => one !== undefined)
      : sentence.unquoted(start, 3);
    const exact = sentence.take(start, /\S(?=\s|$)/y);
    const all = exact === undefined ? readings : [{ value: exact.found[0], at: exact.at, cost: 0 }];
    const keys = all.flatMap(({ value, at: end }) => {
      const known = keyOf(value);
      const after =
        sentence.end(end, /(?:key|button)s?(?:\s+on\s+(?:the\s+)?keyboard)?(?![\w-])/iy) ?? end;
      return known === undefined ? [] : [{ value: known, at: after, cost: 0 }];
    });
    return keys.length > 0
      ? keys
      : sentence.fail(start, "a key such as Enter, Escape, ArrowDown or Control+A");
  },
  print: printed,
};

export const KNOWN_ATTRIBUTES =
  "href src alt placeholder title type role target rel lang action method maxlength min max step pattern tabindex aria-label aria-expanded aria-current autocomplete name for width height srcset data-testid".split(
    " ",
  );

/** Permissions that Chromium lets a test grant (Playwright, `BrowserContext.grantPermissions`). */
export const PERMISSIONS: readonly string[] = (
  "accelerometer ambient-light-sensor background-sync camera clipboard-read clipboard-write geolocation gyroscope " +
  "local-fonts magnetometer microphone midi midi-sysex notifications payment-handler storage-access"
).split(" ");

/** Names of saved states and baselines are file names: no separator, no dot at the beginning. */
export const isStateName = (name: string) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name);
export const isBaselineName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}$/.test(name) && !name.includes("..");
