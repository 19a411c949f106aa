import { parseTargetUrl } from "../address.ts";
import { compiled, inUrl } from "../text.ts";
import {
  ABSENCES,
  type Absence,
  FIELD_STATES,
  type NumberComparison,
  type Reply,
  type RequestPattern,
  SEVERITIES,
  STATES,
  type StatusRange,
  type Target,
  type TextComparison,
} from "./ast.ts";
import { sourceOf } from "./locator.ts";
import { firstWord, type Sentence, type Slot } from "./reader.ts";
import { type Purpose, readTarget } from "./target.ts";

/** What a pattern finds; `toValue` returns undefined for what is out of its limits. */
const pattern =
  <Value>(
    expected: string,
    finds: RegExp,
    toValue: (match: RegExpExecArray) => Value | undefined,
  ): Slot<Value> =>
  (sentence) => {
    const { at } = sentence;
    // If a number is here that is not valid, that is what a message should say.
    const isSure = /^[\d-]/.test(sentence.rest);
    const match = sentence.take(finds);
    return (match && toValue(match)) ?? sentence.fail(expected, { at, isSure });
  };

/** One of some phrases; several can have the same meaning. */
const oneOf =
  <Value>(phrases: Readonly<Record<string, Value>>): Slot<Value> =>
  (sentence) => {
    for (const [phrase, value] of Object.entries(phrases))
      if (sentence.takeWords(phrase.replaceAll(" ", "_"))) return value;
    for (const phrase of Object.keys(phrases)) sentence.fail(firstWord(phrase));
    return undefined;
  };
const same = <Name extends string>(names: readonly Name[]): Readonly<Record<string, Name>> =>
  Object.fromEntries(names.map((name) => [name, name]));

const text: Slot<string> = (sentence) => sentence.quoted();

const texts: Slot<readonly string[]> = (sentence) => {
  const all: string[] = [];
  do {
    const next = sentence.quoted();
    if (next === undefined) return undefined;
    all.push(next);
  } while (sentence.take(/(?:,\s*(?:and\s+)?|and\s+)/iy) !== undefined);
  return all;
};

const REGEX =
  /\/((?:[^/\\[\n\r\u2028\u2029]|\\.|\[(?:[^\]\\\n\r\u2028\u2029]|\\.)*\])+)\/([a-z]*)/y;

/** A pattern between slashes, in RE2's syntax, which runs in linear time for any text of the page. */
export function readPattern(
  sentence: Sentence,
  expected = "a pattern between slashes",
): Pick<TextComparison, "value" | "flags"> | undefined {
  const { at } = sentence;
  const example = "title matches /^Docs/i";
  const [, value = "", flags = ""] = sentence.take(REGEX) ?? [];
  if (value === "") return sentence.fail(expected, { at, example });
  if (/[^imsu]/.test(flags)) return sentence.refuse("only the flags i, m, s and u", at, example);
  try {
    compiled(value, flags);
    // An exported pattern runs in JavaScript, which does not know RE2's (?i).
    new RegExp(value, flags);
    return { value, flags };
  } catch {
    const both =
      "a pattern that both JavaScript and RE2 support (no look-around and no back-references)";
    return sentence.refuse(both, at, example);
  }
}

const VERBS = oneOf({
  "contains|includes|has_text|to_contain": ["contains", false],
  "does not contain": ["contains", true],
  "is not": ["is", true],
  "is|equals|to_be": ["is", false],
  "matches|matching|to_match": ["matches", false],
  "does not match": ["matches", true],
  "starts with|begins with": ["starts", false],
  "ends with": ["ends", false],
} as const);

/** `contains 'x'`, `does not match /x/`, `is 'x'`. */
const compare: Slot<TextComparison> = (sentence) => {
  const verb = VERBS(sentence);
  if (verb === undefined) return undefined;
  const [how, negated] = verb;
  if (how === "matches") {
    const regex = readPattern(sentence);
    return regex && { how, negated, ...regex };
  }
  const value = sentence.quoted();
  if (value === undefined) return undefined;
  if (how === "is" || how === "contains") return { how, value, flags: "", negated };
  const edge = how === "starts" ? `^\\s*(?:${sourceOf(value)})` : `(?:${sourceOf(value)})\\s*$`;
  return { how: "matches", value: edge, flags: "", negated };
};

/** Also a text alone. */
const wanted: Slot<TextComparison> = (sentence) => {
  const value = sentence.isString ? sentence.quoted() : undefined;
  if (value !== undefined) return { how: "is", value, flags: "", negated: false };
  const { at } = sentence;
  return compare(sentence) ?? sentence.fail("a text in quotes, contains or matches", { at });
};

const COUNTING = [
  [/at\s+least|>=/iy, ">="],
  [/at\s+most|<=/iy, "<="],
  [/more\s+than|>/iy, ">"],
  [/less\s+than|fewer\s+than|</iy, "<"],
  [/=|exactly|only/iy, "="],
] as const;
const count: Slot<NumberComparison> = (sentence) => {
  sentence.takeWords("is");
  const how = COUNTING.find(([finds]) => sentence.take(finds) !== undefined)?.[1] ?? "=";
  const digits = sentence.take(/(\d{1,9}|one)(?![\w.])/iy)?.[1];
  return digits === undefined
    ? sentence.fail("a whole number, or at least, at most and a number")
    : { how, value: digits.toLowerCase() === "one" ? 1 : Number(digits) };
};

const name = pattern("a name", /(['"]?)([A-Za-z_:-][\w:.-]*)\1(?=\s|$)/y, ([, , word]) => word);

const ATTRIBUTES = oneOf<string>({
  attribute: "",
  ...same(["href", "src", "placeholder", "alt", "lang", "type", "name", "rel"]),
});

/** A text, or the name of a secret, whose value only the server knows. */
const fillValue: Slot<string | { readonly secret: string }> = (sentence) => {
  if (!sentence.takeWords("secret"))
    return sentence.string("a text in quotes, or secret and its name");
  const { at } = sentence;
  const secret = sentence.string();
  if (secret === undefined || /^[A-Za-z]\w{0,63}$/.test(secret)) return secret && { secret };
  const example = "fill label 'Password' with secret 'PASSWORD'";
  return sentence.refuse("a name of letters, digits and _", at, example);
};

const duration = pattern(
  "a time such as 500ms or 2s, at most 10m",
  /(\d+(?:\.\d+)?)\s*(?:(ms)|(s|sec|seconds?)|m|min|minutes?)(?!\w)/iy,
  ([, amount, ms, s]) => {
    const milliseconds = Number(amount) * (ms ? 1 : s ? 1_000 : 60_000);
    return milliseconds > 0 && milliseconds <= 600_000 ? milliseconds : undefined;
  },
);
const range = pattern<StatusRange>(
  "a status such as 200 or 2xx",
  /[1-5](?:\d\d|xx)(?!\w)/iy,
  ([code]) => ({ from: Number(code.replace(/x/gi, "0")), to: Number(code.replace(/x/gi, "9")) }),
);

const request: Slot<RequestPattern> = (sentence) => {
  const method = sentence.take(/(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s+/y)?.[1];
  const { at } = sentence;
  // A word such as third-party is in no URL, so that its absence would always hold.
  const bare = /localhost(?!\S)|[^\s'"“‘]*[/.*:]\S*/y;
  const glob = sentence.isString ? sentence.string() : sentence.take(bare)?.[0];
  if (glob === undefined || glob === "")
    return sentence.fail("a URL pattern such as **/api/*", { at });
  return { method, glob: inUrl(glob) };
};

const url: Slot<string> = (sentence) => {
  const { at } = sentence;
  const address = (sentence.isString ? sentence.quoted() : sentence.take(/\S+/y)?.[0]) ?? "";
  const isUrl = /^(?:[a-z][a-z0-9+.-]*:|[/.?#])/i.test(address);
  if (!isUrl) return sentence.fail("a URL, or a path on the same site", { at });
  const parsed = parseTargetUrl(address, "http://localhost/");
  if (typeof parsed !== "string") return address;
  return sentence.refuse(`an http or https URL, or a path (${parsed})`, at);
};

/** A status, then a text or a file; one of them is enough. */
const reply: Slot<Exclude<Reply, "blocked">> = (sentence) => {
  const code = sentence.take(/([2-5]\d\d)(?!\w)/y)?.[1];
  const status = Number(code ?? 200);
  const reply = { status, body: undefined, file: undefined };
  const isFile = sentence.takeWords("file");
  if (!isFile && !sentence.isString && code !== undefined) return reply;
  const expected = "a status from 200 to 599, a text in quotes, or file and its name";
  const content = sentence.string(isFile ? "a text in quotes" : expected);
  return content === undefined ? undefined : { ...reply, [isFile ? "file" : "body"]: content };
};

const key = pattern(
  "a key such as Enter or Control+A",
  /(["'])([^"']+|["'])\1(?=\s|$)|\S+/y,
  (match) =>
    (match[2] ?? match[0])
      .replace(/\bctrl\b/i, "Control")
      .replace(/\bcmd\b/i, "Meta")
      .replace(/\besc\b/i, "Escape")
      // With Control, A is the key, not a capital letter.
      .replace(/(?<=\+)[A-Z]$/, (letter) => letter.toLowerCase()),
);

const targetFor =
  (purpose: Purpose): Slot<Target> =>
  (sentence) =>
    readTarget(sentence, purpose);

const namesOf = <Name extends string>(table: Readonly<Record<Name, string>>) =>
  same(Object.keys(table).filter((name): name is Name => name in table));

/** The kinds of values in forms. */
export const SLOTS = {
  target: targetFor("check"),
  /** One that a step uses; `field`: a text alone is the label or placeholder of a field. */
  acted: targetFor("step"),
  field: targetFor("field"),
  ...{ text, texts, name, value: fillValue, compare, wanted, number: count },
  attribute: ((sentence) => {
    const short = ATTRIBUTES(sentence);
    return short === "" ? name(sentence) : short;
  }) satisfies Slot<string>,
  be: oneOf({ "is not": true, "is|are|to_be|should_be|to": false }),
  exists: oneOf({ "exists|is_present": true, "does_not_exist|is_not_present": false }),
  state: oneOf<keyof typeof STATES>({
    ...namesOf(STATES),
    ...{ "displayed|shown|appear": "visible", "gone|disappear": "hidden" },
  }),
  "field state": oneOf(namesOf(FIELD_STATES)),
  page: oneOf<"title" | "url">({ "title|page_title": "title", "url|page_url": "url" }),
  absence: oneOf<Absence>(same(ABSENCES)),
  severity: oneOf(same(SEVERITIES)),
  time: oneOf(same(["response time", "load time", "lcp"] as const)),
  ...{ range, request, url, reply, duration, key },
  decimal: pattern("a number such as 0.1", /\d+(?:\.\d+)?(?![\w.])/y, ([digits]) => Number(digits)),
  tab: pattern(
    "new tab, or tab and its number in the order of opening",
    /new\s+tab(?!\w)|tab\s+([1-9])(?!\w)/iy,
    ([, digit]) => (digit === undefined ? ("new" as const) : Number(digit)),
  ),
  times: pattern("a number of times up to 50", /([1-9]|[1-4]\d|50)\s+times(?!\w)/iy, ([, digits]) =>
    Number(digits),
  ),
  seen: oneOf({ "is visible|are visible|visible": true }),
  edge: oneOf<"top" | "bottom">(same(["top", "bottom"])),
};

type Value<Kind> = Kind extends keyof typeof SLOTS
  ? (typeof SLOTS)[Kind] extends Slot<infer Read>
    ? Read
    : never
  : never;
type Named<Text extends string> = Text extends `${infer Name}:${infer Kind}`
  ? { readonly [Key in Name]: Value<Kind> }
  : { readonly [Key in Text]: Value<Text> };
type Needed<Form extends string> = Form extends `${string}{${infer Name}}${infer Rest}`
  ? Named<Name> & Needed<Rest>
  : unknown;
type Optional<Args> = { readonly [Key in keyof Args]: Args[Key] | undefined };
/** The values that a form's slots read. */
export type ArgsOf<Form extends string> =
  Form extends `${infer Before}[${infer Part}]${infer After}`
    ? Needed<Before> & Optional<Needed<Part>> & ArgsOf<After>
    : Needed<Form>;
