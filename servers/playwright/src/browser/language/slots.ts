import { parseTargetUrl } from "./address.ts";
import { awaited, printAssertion, readAssertion } from "./assertion.ts";
import {
  ABSENCES,
  type Absence,
  type Assertion,
  type DIRECTIONS,
  type FillValue,
  NETWORK_SPEEDS,
  type NetworkSpeed,
  type NumberComparison,
  type Point,
  type Reply,
  type RequestPattern,
  SEVERITIES,
  type Severity,
  STATES,
  type State,
  type StatusRange,
  type Target,
  type TextComparison,
  TIMES,
} from "./ast.ts";
import { compiled, escaped } from "./matching.ts";
import type { Slots } from "./pattern.ts";
import type { Reading, Sentence, Slot } from "./reader.ts";
import { describeTarget, isBox, quoted, readTarget, type Taking, unquoted, words } from "./target.ts";
import {
  BEING,
  COMPARING,
  COUNTING,
  KEYS,
  MODAL,
  NEGATION,
  NUMBERS,
  SIZES,
  STATE_WORDS,
  UNITS,
  vocabulary,
} from "./words.ts";

/** The values of the slots in forms, by the kind of slot. */
export interface SlotValues {
  readonly target: Target;
  /** One that is named by its text alone, also without quotes. */
  readonly clickable: Target;
  readonly field: Target;
  /** A field that people compare with a value: `field 'Email' contains 'x'`. */
  readonly filled: Target;
  /** A checkbox, radio button or switch. */
  readonly box: Target;
  /** What people see: also named by its text alone, without quotes. */
  readonly seen: Target;
  /** What opens and closes above the page. */
  readonly popup: Target;
  /** Any other, whose text is compared. */
  readonly texted: Target;
  readonly targets: readonly Target[];
  readonly text: string;
  /** One that must be in quotes. */
  readonly quoted: string;
  readonly texts: readonly string[];
  readonly value: FillValue;
  /** In quotes. */
  readonly given: FillValue;
  readonly givens: readonly string[];
  readonly compare: TextComparison;
  /** Also without quotes after `is`. */
  readonly compared: TextComparison;
  /** A text that it is not. */
  readonly unwanted: TextComparison;
  /** A text that is contained. */
  readonly contained: TextComparison;
  /** The beginning of a path, which the URL contains. */
  readonly urlPart: TextComparison;
  /** `the Login page`, by its title. */
  readonly pageName: TextComparison;
  /** `the login page`, by its URL. */
  readonly pageSlug: TextComparison;
  readonly wanted: TextComparison;
  readonly number: NumberComparison;
  /** True for `is not`. */
  readonly be: boolean;
  /** True for `exists`. */
  readonly exists: boolean;
  readonly state: State;
  readonly page: "title" | "url";
  readonly attribute: string;
  /** One that needs no `attribute` before it. */
  readonly known: string;
  readonly absence: Absence;
  readonly severity: Severity;
  readonly time: (typeof TIMES)[number];
  readonly range: StatusRange;
  readonly request: RequestPattern;
  /** One that is clearly a URL. */
  readonly endpoint: RequestPattern;
  readonly glob: string;
  readonly url: string;
  /** One that is clearly a URL, or a page of the site. */
  readonly address: string;
  readonly reply: Extract<Reply, { readonly status: number }>;
  readonly duration: number;
  readonly size: number;
  readonly decimal: number;
  readonly percent: number;
  readonly position: number;
  readonly key: string;
  readonly edge: "top" | "bottom";
  readonly direction: keyof typeof DIRECTIONS;
  readonly pixels: number;
  readonly point: Point;
  readonly header: string;
  readonly viewport: { readonly width: number; readonly height: number };
  readonly place: { readonly latitude: number; readonly longitude: number };
  readonly permission: string;
  readonly zone: string;
  readonly locale: string;
  readonly clock: string;
  readonly rate: number;
  readonly speed: NetworkSpeed;
  readonly savedState: string;
  readonly baseline: string;
  readonly assertion: Assertion;
  readonly awaited: Assertion;
}

const printed = (value: unknown) => String(value);
/** A number is here; if it is not valid, that is what a message should say. */
const isNumber = (sentence: Sentence, at: number) => /^[\d-]/.test(sentence.rest(at));

/** A slot that a pattern recognizes; `readValue` returns undefined for what is out of its limits. */
const patterned = <Value>(
  expected: string,
  pattern: RegExp,
  readValue: (found: RegExpExecArray) => Value | undefined,
  print: (value: Value) => string = printed,
): Slot<Value> => ({
  read(sentence, at) {
    const taken = sentence.take(at, pattern);
    const value = taken === undefined ? undefined : readValue(taken.found);
    return taken === undefined || value === undefined
      ? sentence.fail(at, expected, { isSure: isNumber(sentence, at) })
      : [{ value, at: taken.at, cost: 0 }];
  },
  print,
});

/** A slot with one of some words. */
const oneOf = <Value>(
  expected: string,
  lists: Readonly<Record<string, Value>>,
  print: (value: Value) => string = printed,
): Slot<Value> => {
  const all = vocabulary(lists);
  const names = [...new Set(Object.values(lists).map(print))];
  return {
    read(sentence, at) {
      const found = all.flatMap(([pattern, value]) => {
        const end = sentence.end(at, pattern);
        return end === undefined ? [] : [{ value, at: end, cost: 0 }];
      });
      if (found.length === 0) {
        if (expected === "") for (const name of names) sentence.fail(at, name);
        else sentence.fail(at, expected);
      }
      return found;
    },
    print,
  };
};
const same = <Name extends string>(names: readonly Name[]): Readonly<Record<string, Name>> =>
  Object.fromEntries(names.map((name) => [name, name]));

/** A slot with a text, in quotes or a single word, that must pass a test. */
const checked = (expected: string, isValid: (text: string) => boolean, print = quoted): Slot<string> => ({
  read(sentence, at) {
    const all = words(sentence, at, expected, 1);
    const valid = all.filter(({ value }) => isValid(value));
    return valid.length > 0 || all.length === 0 ? valid : sentence.fail(at, expected, { isSure: true });
  },
  print,
});

function isKnown(test: () => unknown): boolean {
  try {
    test();
    return true;
  } catch {
    return false;
  }
}

const targetSlot = (taking: Taking, fits: (target: Target) => boolean = () => true): Slot<Target> => ({
  read: (sentence, at) => readTarget(sentence, at, taking).filter(({ value }) => fits(value)),
  print: describeTarget,
  noun: taking === "element" ? "a target" : "a field or another target",
});
/** Roles that nothing is written into: `set header 'x' to 'y'` is not about a heading. */
const NOT_FIELDS =
  /^(?:heading|img|table|row|cell|region|navigation|status|tooltip|progressbar|list|listitem)$/;
const isField = ({ base }: Target) => base.kind === "field";

/** Several values, with a comma or `and` between them. */
function several<Value>(one: Slot<Value>): Slot<readonly Value[]> {
  const next = /(?:,\s*(?:and\s+)?|and\s+)/iy;
  const read = (sentence: Sentence, at: number): Reading<readonly Value[]>[] =>
    one.read(sentence, at).flatMap((first) => {
      const more = sentence.end(first.at, next);
      const alone = { ...first, value: [first.value] };
      const rest = more === undefined ? [] : read(sentence, more);
      return [
        alone,
        ...rest.map(({ value, at: end, cost }) => ({
          value: [first.value, ...value],
          at: end,
          cost: first.cost + cost,
        })),
      ];
    });
  return { read, print: (all) => all.map((value) => one.print(value)).join(", ") };
}

const textSlot: Slot<string> = {
  read: (sentence, at) => words(sentence, at, "a text in quotes"),
  print: quoted,
  noun: "a text in quotes",
};

const SECRET = /(?:the\s+)?secret(?![\w-])\s*/iy;
const fillValue: Slot<FillValue> = {
  read(sentence, at) {
    const secret = sentence.end(at, SECRET);
    if (secret === undefined || !sentence.isString(secret)) {
      const start = sentence.end(at, /(?:the\s+)?(?:text|value|string|number|word)\s+(?=['"“‘])/iy) ?? at;
      return words(sentence, start, "a text in quotes, or secret and its name").map((one) => ({
        ...one,
        value: { text: one.value },
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

/** A pattern between slashes, in RE2's syntax. */
function regex(sentence: Sentence, at: number): Reading<{ value: string; flags: string }>[] {
  const example = "title matches /^Docs/i";
  const taken = sentence.take(
    at,
    /\/((?:[^/\\[\n\r\u2028\u2029]|\\.|\[(?:[^\]\\\n\r\u2028\u2029]|\\.)*\])+)\/([a-z]*)/y,
  );
  if (taken === undefined) return sentence.fail(at, "a pattern between slashes", { example });
  const [, value = "", flags = ""] = taken.found;
  if (/[^imsu]/.test(flags))
    return sentence.fail(at, "only the flags i, m, s and u", { example, isSure: true });
  // An exported pattern runs in JavaScript, which does not know RE2's (?i).
  if (isKnown(() => compiled(value, flags)) && isKnown(() => new RegExp(value, flags)))
    return [{ value: { value, flags }, at: taken.at, cost: 0 }];
  const expected = "a pattern that both JavaScript and RE2 support (no look-around and no back-references)";
  return sentence.fail(at, expected, { example, isSure: true });
}

const spacedPattern = (text: string) => text.trim().split(/\s+/).map(escaped).join("\\s+");

const is = (value: string): TextComparison => ({ how: "is", value, flags: "", negated: false });

/** Whether a page's name is more like a part of its URL than like a title. */
const isSlug = (name: string) => /^[a-z][a-z-]*$/.test(name);

/** `the 'Sign in' page`, in any letter case. */
function pageNames(sentence: Sentence, at: number): Reading<TextComparison>[] {
  const start = sentence.end(at, /(?:the|a|an|my|your)\s+/iy) ?? at;
  return words(sentence, start, "a page's name", 4).flatMap((name) => {
    const end = sentence.end(name.at, /(?:web\s?)?(?:page|screen|site|view)(?![\w-])/iy);
    if (end === undefined) return [];
    const cost = name.cost > 0 ? name.cost - 3 : 0;
    return [
      {
        value: { how: "matches", value: spacedPattern(name.value), flags: "i", negated: false },
        at: end,
        cost,
      },
    ];
  });
}

/** `contains 'x'`, `does not match /x/`, `should be 'x'`, `starts with 'x'`. */
function comparisons(sentence: Sentence, at: number, takesWords: boolean): Reading<TextComparison>[] {
  const found: Reading<TextComparison>[] = [];
  const add = (from: number, how: (typeof COMPARING)[number][1], isNegated: boolean, isBare: boolean) => {
    if (how === "matches") {
      for (const one of regex(sentence, from))
        found.push({ ...one, value: { how, ...one.value, negated: isNegated } });
      return;
    }
    const texts =
      isBare && !sentence.isString(from)
        ? sentence.fail(from, "a text in quotes", { example: "h1 contains 'Docs'" })
        : words(sentence, from, "a text in quotes");
    for (const { value, ...end } of texts) {
      const flags = "";
      if (how === "starts")
        found.push({
          ...end,
          value: { how: "matches", value: `^\\s*${spacedPattern(value)}`, flags, negated: isNegated },
        });
      else if (how === "ends")
        found.push({
          ...end,
          value: { how: "matches", value: `${spacedPattern(value)}\\s*$`, flags, negated: isNegated },
        });
      else found.push({ ...end, value: { how, value, flags, negated: isNegated } });
    }
  };
  const verbs = (from: number, isNegated: boolean) => {
    for (const [pattern, how] of COMPARING) {
      const end = sentence.end(from, pattern);
      if (end === undefined) continue;
      add(end, how, isNegated, false);
      break;
    }
  };
  verbs(at, false);
  const not = sentence.end(at, NEGATION);
  if (not !== undefined) verbs(not, true);
  const should = sentence.end(at, MODAL);
  if (should !== undefined) verbs(should, false);
  for (const [pattern, isNegated] of BEING) {
    const end = sentence.end(at, pattern);
    if (end === undefined) continue;
    const again = isNegated ? undefined : sentence.end(end, /not(?!\w)\s*/iy);
    if (takesWords || sentence.isString(again ?? end))
      add(again ?? end, "is", isNegated !== (again !== undefined), !takesWords);
    verbs(end, isNegated);
    break;
  }
  if (found.length === 0) for (const word of ["contains", "is", "matches"]) sentence.fail(at, word);
  return found;
}

function printComparison({ how, value, flags, negated }: TextComparison): string {
  if (how === "is") return `${negated ? "is not" : "is"} ${quoted(value)}`;
  const text = how === "matches" ? `/${value}/${flags}` : quoted(value);
  return negated ? `does not ${how === "matches" ? "match" : "contain"} ${text}` : `${how} ${text}`;
}

const SIGNS = { "=": "is", "<": "less than", "<=": "at most", ">": "more than", ">=": "at least" } as const;
const count: Slot<NumberComparison> = {
  read(sentence, at) {
    const be = BEING.find(([pattern, isNegated]) => !isNegated && sentence.end(at, pattern) !== undefined);
    const start = be === undefined ? at : (sentence.end(at, be[0]) ?? at);
    const how = COUNTING.find(([pattern]) => sentence.end(start, pattern) !== undefined);
    const after = how === undefined ? start : (sentence.end(start, how[0]) ?? start);
    const digits = sentence.take(after, /["'“]?(\d{1,9})(?![\w.])["'”]?/y);
    const word = NUMBERS.find(([pattern]) => sentence.end(after, pattern) !== undefined);
    const end = digits?.at ?? (word === undefined ? undefined : sentence.end(after, word[0]));
    if (end === undefined) return sentence.fail(after, "a whole number, or at least, at most and a number");
    const value = {
      how: how?.[1] ?? ("=" as const),
      value: digits === undefined ? (word?.[1] ?? 0) : Number(digits.found[1]),
    };
    const more = sentence.end(end, /or\s+(?:more|greater)(?!\w)/iy);
    return [
      more === undefined
        ? { value, at: end, cost: 0 }
        : { value: { ...value, how: ">=" }, at: more, cost: 0 },
    ];
  },
  print: ({ how, value }) => `${SIGNS[how]} ${value}`,
};

const duration: Slot<number> = {
  ...patterned(
    "a time such as 500ms or 2s, at most 10m",
    /["'“]?(\d+(?:\.\d+)?|an?|one|two|three|five|ten)["'”]?\s*([a-z]+)["'”]?(?!\w)/iy,
    ([, amount = "", unit = ""]) => {
      const number = /^\d/.test(amount)
        ? Number(amount)
        : (NUMBERS.find(([pattern]) => amount.search(new RegExp(pattern.source, "i")) === 0)?.[1] ?? 1);
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

const size = patterned(
  "a size such as 500 kB or 2 MB",
  /(\d+(?:\.\d+)?)\s*([a-z]+)(?!\w)/iy,
  ([, amount, unit = ""]) => {
    const bytes = Number(amount) * (SIZES[unit.toLowerCase()] ?? Number.NaN);
    return bytes > 0 ? bytes : undefined;
  },
  (bytes) =>
    bytes % 1e5 === 0 ? `${bytes / 1e6} MB` : bytes % 100 === 0 ? `${bytes / 1e3} kB` : `${bytes} B`,
);

const range = patterned<StatusRange>(
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
const glob: Slot<string> = {
  read(sentence, at) {
    const text = sentence.isString(at) ? sentence.string(at) : undefined;
    if (text !== undefined && text.value !== "") return [text];
    const word = sentence.take(at, /[^\s'"“‘]\S*/y);
    return word === undefined
      ? sentence.fail(at, "a URL pattern such as **/api/*")
      : [{ value: word.found[0], at: word.at, cost: 0 }];
  },
  print: globWord,
};

const METHOD = /(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s+(?:requests?\s+(?:to\s+)?)?/y;
const request: Slot<RequestPattern> = {
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
  const home =
    sentence.end(
      at,
      /(?:the\s+|my\s+)?["'“]?(?:home|main|landing|start|index|front)["'”]?\s?-?(?:page|screen)(?![\w-])/iy,
    ) ??
    sentence.end(
      at,
      /(?:the\s+)?(?:homepage|home|site|website|application|app|web\s?page|page\s+under\s+test)(?=\s*[.,]?$)/iy,
    );
  if (home !== undefined) return [{ value: "/", at: home, cost: 1 }];
  return pageNames(sentence, at).map((one) => {
    if (/^\\?\//.test(one.value.value))
      return { value: one.value.value.replace(/\\/g, ""), at: one.at, cost: 0 };
    const slug = one.value.value.replace(/\\s\+/g, "-").replace(/\\/g, "").toLowerCase();
    return { value: `/${encodeURI(slug)}`, at: one.at, cost: one.cost + 0.3 };
  });
}

const url: Slot<string> = {
  read(sentence, at) {
    const start =
      sentence.end(
        at,
        /(?:the\s+)?(?:(?:relative\s+)?(?:url|address|page|site|website|path|link))\s+(?=['"“‘]|https?:|\/)/iy,
      ) ?? at;
    const text = sentence.isString(start) ? sentence.string(start) : undefined;
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
    if (value === undefined || value === "") return sentence.fail(start, "a URL, or a path on the same site");
    const parsed = parseTargetUrl(value, "http://localhost/");
    if (typeof parsed === "string")
      return sentence.fail(start, `an http or https URL, or a path (${parsed})`, { isSure: true });
    const end = text?.at ?? word?.at ?? start;
    return [
      { value, at: sentence.end(end, /(?:url|page|website|site|address|path)(?![\w-])/iy) ?? end, cost: 0 },
    ];
  },
  print: (value) => (/^(?:https?:|\/)[^\s'"]*$/.test(value) ? value : quoted(value)),
};

const reply: Slot<SlotValues["reply"]> = {
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
      return sentence.fail(start, "a status from 200 to 599, a text in quotes, or file and its name");
    if (keyword !== undefined && text === undefined) return sentence.fail(keyword, "a text in quotes");
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

/** Keys as Playwright names them, alone or with modifiers. */
function keyOf(text: string): string | undefined {
  const parts = text.length === 1 ? [text] : text.split(/\s*(?:\+|-(?=.))\s*/);
  const named = parts.map((part) => {
    const known =
      KEYS[
        part
          .toLowerCase()
          .replace(/\s+/g, " ")
          .replace(/\s*key$/, "")
      ];
    return (
      known ??
      (/^(?:[!-~]|F(?:[1-9]|1[0-2])|Key[A-Z]|Digit\d)$/i.test(part)
        ? part.length === 1
          ? part
          : part.charAt(0).toUpperCase() + part.slice(1)
        : undefined)
    );
  });
  const last = named.at(-1);
  const isModifier = (one: string | undefined) =>
    /^(?:Control|Shift|Alt|Meta|ControlOrMeta)$/.test(one ?? "");
  if (last === undefined || (parts.length > 1 && isModifier(last)) || !named.slice(0, -1).every(isModifier))
    return undefined;
  return named.join("+");
}
const key: Slot<string> = {
  read(sentence, at) {
    const start = sentence.end(at, /(?:the\s+)?(?:(?:keyboard\s+)?(?:key|keys|shortcut)\s+)?(?=\S)/iy) ?? at;
    const readings = sentence.isString(start)
      ? [sentence.string(start)].filter((one) => one !== undefined)
      : unquoted(sentence, start, 3);
    const exact = sentence.take(start, /\S(?=\s|$)/y);
    const all = exact === undefined ? readings : [{ value: exact.found[0], at: exact.at, cost: 0 }];
    const keys = all.flatMap(({ value, at: end }) => {
      const known = keyOf(value);
      const after = sentence.end(end, /(?:key|button)s?(?:\s+on\s+(?:the\s+)?keyboard)?(?![\w-])/iy) ?? end;
      return known === undefined ? [] : [{ value: known, at: after, cost: 0 }];
    });
    return keys.length > 0
      ? keys
      : sentence.fail(start, "a key such as Enter, Escape, ArrowDown or Control+A");
  },
  print: printed,
};

const KNOWN_ATTRIBUTES =
  "href src alt placeholder title type role target rel lang action method maxlength min max step pattern tabindex aria-label aria-expanded aria-current autocomplete name for width height srcset data-testid".split(
    " ",
  );

/** Permissions that Chromium lets a test grant (Playwright, `BrowserContext.grantPermissions`). */
const PERMISSIONS: readonly string[] = (
  "accelerometer ambient-light-sensor background-sync camera clipboard-read clipboard-write geolocation gyroscope " +
  "local-fonts magnetometer microphone midi midi-sysex notifications payment-handler storage-access"
).split(" ");

/** Names of saved states and baselines are file names: no separator, no dot at the beginning. */
const isStateName = (name: string) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name);
export const isBaselineName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}$/.test(name) && !name.includes("..");

const negatable = (lists: readonly [RegExp, boolean][], word: readonly [string, string]): Slot<boolean> => ({
  read(sentence, at) {
    const found = lists.find(([pattern]) => sentence.end(at, pattern) !== undefined);
    const end = found === undefined ? undefined : sentence.end(at, found[0]);
    if (found === undefined || end === undefined) return sentence.fail(at, word[0]);
    const again = found[1] ? undefined : sentence.end(end, /(?:not|no longer|never)(?![\w-])/iy);
    const extra = sentence.end(
      again ?? end,
      /(?:now|also|still|all|currently|currently|initially|correctly|automatically)(?![\w-])/iy,
    );
    return [{ value: found[1] || again !== undefined, at: extra ?? again ?? end, cost: 0 }];
  },
  print: (value) => word[Number(value)] ?? "",
});

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
