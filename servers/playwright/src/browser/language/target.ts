import { nearest } from "@refmcp/boundary/answer";
import type { Base, Target } from "./ast.ts";
import { isRole, NAMED, NO_BEGINNING, NO_NAME, NO_VALUE, ROLES, STOP, STRUCTURE, TAGS } from "./elements.ts";
import { best, type Reading, remembered, type Sentence } from "./reader.ts";
import {
  ADJECTIVE,
  ARTICLE,
  ATTRIBUTED,
  CONTAINING,
  FRINGE,
  INSIDE,
  NAMED_BY,
  NOUNS,
  type Noun,
  NTH,
  ORDINALS,
} from "./words.ts";

/** The words that a target can begin with, for suggestions. */
export const TARGET_WORDS: readonly string[] = [...TAGS, ...ROLES, ...NAMED, "field", "frame"];

/**
 * What a slot takes: a target; one that may be a frame; one that is clicked or filled, named also without quotes by its
 * text in any letter case (`username`); one that is seen, named by its text (`Sign in`) or described (`the cart badge`); or
 * one whose text is compared, described. `around`: what contains another one.
 */
export type Taking = "element" | "container" | "around" | "any" | "named" | "described";

/** Every way to read a target: `["first" | "last" | "nth" N] base ["containing" STR] ["in" target]`. */
export const readTarget = (
  sentence: Sentence,
  at: number,
  taking: Taking = "element",
): readonly Reading<Target>[] => TARGETS[taking](sentence, at);

const reader = (taking: Taking) =>
  remembered((sentence: Sentence, at: number): readonly Reading<Target>[] => {
    const start = sentence.end(at, ARTICLE) ?? at;
    const readings: Reading<Target>[] = [];
    for (const { value: pick, ...after } of picks(sentence, start))
      for (const { value: base, ...next } of bases(sentence, after.at, taking, start > at)) {
        if (base.kind === "frame" && taking !== "container") {
          const example = "button 'Pay' in frame 'Payment'";
          sentence.fail(start, "an element, and then in frame and its name", { example });
          continue;
        }
        const cost = after.cost + next.cost;
        for (const { value, ...head } of [
          { value: { pick, base }, at: next.at, cost },
          ...details(sentence, next.at, base).map((one) => ({
            value: { pick, base, ...one.value },
            at: one.at,
            cost: cost + one.cost,
          })),
        ]) {
          readings.push({ ...head, value: { ...value, inside: undefined } });
          const within = sentence.end(head.at, INSIDE);
          if (within === undefined || base.kind === "frame") continue;
          for (const { value: inside, ...last } of readTarget(sentence, within, "container"))
            readings.push({
              value: asName(value, inside) ?? { ...value, inside },
              at: last.at,
              cost: head.cost + last.cost,
            });
        }
      }
    return best(readings, ({ base }) => base.kind);
  });

/** `'Save' in a button` is the button of this name. */
const asName = ({ pick, base }: Omit<Target, "inside">, { inside, ...around }: Target): Target | undefined =>
  base.kind === "quoted" &&
  pick === undefined &&
  around.pick === undefined &&
  around.base.kind === "role" &&
  around.base.name === undefined &&
  /^(?:button|link|heading|tab|option|menuitem)$/.test(around.base.role)
    ? { pick, base: { ...around.base, name: base.text, exact: base.exact }, inside }
    : undefined;

const TARGETS = {
  element: reader("element"),
  container: reader("container"),
  around: reader("around"),
  any: reader("any"),
  named: reader("named"),
  described: reader("described"),
};

/** Without a position, or `first`, `nth 2`, `third`; perhaps an adjective. The first name is a name. */
function picks(sentence: Sentence, start: number): Reading<Target["pick"]>[] {
  const all: Reading<Target["pick"]>[] = [{ value: undefined, at: start, cost: 0 }];
  const nth = sentence.take(start, NTH);
  const position = Number(nth?.found[1] ?? nth?.found[2]);
  if (nth !== undefined && position >= 1 && position < 1e6)
    all.push({ value: position, at: nth.at, cost: 0 });
  else if (/^nth\b/i.test(sentence.rest(start)))
    return sentence.fail(sentence.skip(start + 3), "a position from 1 on after nth", {
      example: "nth 2 li exists",
      isSure: true,
    });
  else if (!/^(?:first|last)\s+name\b/i.test(sentence.rest(start)))
    for (const [pattern, value] of ORDINALS) {
      const end = sentence.end(start, pattern);
      if (end !== undefined) all.push({ value, at: end, cost: 0 });
    }
  return all.flatMap((one) => {
    const end = sentence.end(one.at, ADJECTIVE);
    return end === undefined ? [one] : [one, { ...one, at: end, cost: 0.3 }];
  });
}

/** `containing 'x'`; `with id 'x'`, which finds the element by itself. */
function details(sentence: Sentence, at: number, base: Base): Reading<Partial<Target>>[] {
  const text = sentence.end(at, CONTAINING);
  const attribute = sentence.take(at, ATTRIBUTED);
  const name = attribute?.found[1]?.toLowerCase() ?? "";
  return [
    ...(text === undefined ? [] : words(sentence, text, "a text in quotes")).map((one) => ({
      ...one,
      value: { containing: one.value },
    })),
    ...(attribute === undefined || base.kind === "css" ? [] : words(sentence, attribute.at, "", 0)).map(
      (one): Reading<Partial<Target>> => ({
        ...one,
        value: { base: { kind: "css", css: attributeSelector(name, one.value) } },
        cost: 0.1,
      }),
    ),
  ];
}

const attributeSelector = (name: string, value: string) =>
  name === "css" || name.endsWith("selector")
    ? value
    : name === "id" && /^[A-Za-z_][\w-]*$/.test(value)
      ? `#${value}`
      : `[${name}${name === "class" ? "~" : ""}=${JSON.stringify(value)}]`;

/** A text in quotes; or without them, which costs more with each word. */
export function words(
  sentence: Sentence,
  at: number,
  expected: string,
  most = 8,
): readonly Reading<string>[] {
  const code = sentence.take(at, /`([^`]+)`/y);
  if (code !== undefined) return [{ value: code.found[1] ?? "", at: code.at, cost: 0 }];
  if (sentence.isString(at)) return nonEmpty(sentence, at);
  sentence.fail(at, expected);
  return unquoted(sentence, at, most).filter(({ value }) => !NO_VALUE.test(value));
}

/** The next words without quotes, one reading for each number of words. */
export function unquoted(sentence: Sentence, at: number, most: number): Reading<string>[] {
  const readings: Reading<string>[] = [];
  const word = /[^\s'"“”‘’`«»]+(?:['’][^\s'"“”‘’`]+)*/y;
  let end = at;
  for (let count = 1; count <= most; count++) {
    const next = sentence.take(end, word);
    if (next === undefined) break;
    const text = sentence.text
      .slice(at, end + next.found[0].length)
      .replace(/[.,;:!\s]+$|^[*<]+|[*>]+$/g, "");
    if (text !== "") readings.push({ value: text, at: next.at, cost: 4 + count });
    end = next.at;
  }
  return readings;
}

function nonEmpty(sentence: Sentence, at: number): Reading<string>[] {
  const text = sentence.string(at);
  if (text === undefined || text.value.trim() !== "") return text === undefined ? [] : [text];
  return sentence.fail(at, "a text that is not empty", { isSure: true });
}

function bases(sentence: Sentence, at: number, taking: Taking, isAfterArticle: boolean): Reading<Base>[] {
  if (sentence.text.charAt(at) === "`") {
    const found = sentence.take(at, /`([^`]+)`/y);
    const css = found?.found[1]?.trim() ?? "";
    if (found === undefined || css === "" || /^https?:/.test(css))
      return sentence.fail(at, "a CSS selector between two backticks", { isSure: true });
    return [{ value: { kind: "css", css }, at: found.at, cost: 0 }];
  }
  if (sentence.isString(at)) return quotedText(sentence, at, taking);
  const exactly = sentence.end(at, /exactly(?![\w-])/iy);
  if (exactly !== undefined)
    return nonEmpty(sentence, exactly).map((one) => ({
      ...one,
      value: { kind: "quoted", text: one.value, exact: true },
    }));
  return [
    ...nouns(sentence, at, taking),
    ...selectors(sentence, at).map((one) =>
      // `the main nav` is not a nav in main.
      isAfterArticle && one.cost > 0 && /\s/.test(Object(one.value).css) ? { ...one, cost: 6 } : one,
    ),
    ...unquotedNames(sentence, at, taking),
  ];
}

interface NounAt {
  readonly noun: Noun;
  readonly word: string;
  readonly at: number;
  /** It is the language's own word. */
  readonly isOwn?: boolean;
}

/** The nouns at a position; after a name, one may be in quotes, as in `"Save" "button"`. */
const nounsAt = (sentence: Sentence, at: number, takesQuotes = false): readonly NounAt[] =>
  /["']/.test(sentence.text.charAt(at))
    ? takesQuotes
      ? findNouns(sentence, at, 1)
      : []
    : plainNouns(sentence, at).map(({ value }) => value);
const plainNouns = remembered((sentence, at) =>
  findNouns(sentence, at, 0).map((one) => ({ value: one, at: one.at, cost: 0 })),
);
function findNouns(sentence: Sentence, at: number, quote: 0 | 1): NounAt[] {
  const own = quote === 0 ? sentence.take(at, /[A-Za-z][\w-]*(?=\s|['"“‘`]|$)/y) : undefined;
  const word = own?.found[0].toLowerCase() ?? "";
  const known = NAMED.find((kind) => kind === word) ?? (isRole(word) ? word : undefined);
  // `Log in` is not in a log.
  const isOwn = known !== undefined && !/^log\s+(?:in|out)\b/i.test(sentence.rest(at));
  return [
    ...(isOwn && own !== undefined ? [{ noun: known, word, at: own.at, isOwn }] : []),
    ...NOUNS.flatMap(([pattern, noun]) => {
      const found = sentence.take(at + quote, pattern);
      if (found === undefined) return [];
      const end = quote === 0 ? found.at : sentence.end(at + 1 + found.found[0].length, /["']/y);
      return end === undefined ? [] : [{ noun, word: found.found[0].trim().toLowerCase(), at: end }];
    }),
  ];
}

/** A target from a noun and a name. */
function named(
  { noun, word, isOwn = false }: Omit<NounAt, "at">,
  name: string | undefined,
  exact: boolean,
  taking: Taking,
): Base | undefined {
  const isClicked = taking === "any" && !isOwn;
  switch (noun) {
    case "field":
      if (taking === "container" && !isOwn) return named({ noun: "region", word }, name, exact, taking);
      return name !== undefined && /^(?:\(?\/\/|[.#][A-Za-z_-][\w-]*$)/.test(name)
        ? cssOf(name)
        : { kind: "field", text: name, exact };
    case "search":
      if (isOwn) return { kind: "role", role: noun, name, exact };
      return { kind: "field", text: name ?? "search", exact };
    case "element":
      if (name === undefined) return undefined;
      return /^[\p{L}\d][\p{L}\d_ -]*$/u.test(name) && !(TAGS.has(name) && !isOwn)
        ? (endingInNoun(name, taking) ?? { kind: "element", text: name })
        : cssOf(name);
    case "text":
    case "label":
    case "placeholder":
    case "alt":
    case "title":
    case "testid":
      // Without its words, nobody knows which element an error message is: `no error message` would always pass.
      return name === undefined ? undefined : { kind: noun, text: name, exact };
    case "frame":
      return name === undefined ? undefined : { kind: noun, text: name };
    case "part":
      // What is clicked is its link, button or text.
      if (name === undefined) return undefined;
      return isClicked
        ? { kind: "quoted", text: name, exact }
        : { kind: "role", role: "region", name, exact };
    default:
      if (name === undefined && TAGS.has(word) && !isOwn) return undefined;
      if (isClicked && name !== undefined && /^(?:menu|listitem|navigation)$/.test(noun))
        return { kind: "quoted", text: name, exact };
      return { kind: "role", role: noun, name, exact };
  }
}

const cssOf = (name: string): Base => ({ kind: "css", css: /^\(?\/\//.test(name) ? `xpath=${name}` : name });

/** `Users Table` in quotes, where people write the noun within them. */
function endingInNoun(text: string, taking: Taking): Base | undefined {
  const [, name, word = ""] = /^(\S.*)\s([A-Z][a-z]+)$/.exec(text) ?? [];
  const noun = nounNamed(word);
  return name === undefined || noun === undefined || noun === "text"
    ? undefined
    : named({ noun, word: word.toLowerCase() }, name, false, taking);
}

/** The noun that a word is. */
const nounNamed = (word: string) =>
  NOUNS.find(([pattern]) => {
    pattern.lastIndex = 0;
    return pattern.exec(word)?.[0] === word;
  })?.[1];

function withLevel(sentence: Sentence, role: Reading<Base>): Reading<Base>[] {
  const level = sentence.end(role.at, /level(?![\w-])/iy);
  if (level === undefined || role.value.kind !== "role" || role.value.role !== "heading") return [role];
  const found = sentence.take(level, /[1-6](?!\w)/y);
  if (found === undefined)
    return sentence.fail(level, "a level from 1 to 6", { example: "heading 'News' level 2", isSure: true });
  return [{ ...role, value: { ...role.value, level: Number(found.found[0]) }, at: found.at }];
}

export const isBox = ({ base }: Target) =>
  base.kind === "role" && /^(?:checkbox|radio|switch)$/.test(base.role);

/** `label 'Email'`, `heading 'News' level 2`, `button labeled 'Save'`, `the popup`, `dropdown "Color"`. */
function nouns(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  const found = nounsAt(sentence, at);
  const word = sentence.end(at, /[A-Za-z][\w-]*/y);
  if (found.length === 0 && word !== undefined && sentence.isString(word))
    sentence.fail(
      at,
      "a role (button, link, heading, textbox, …), text, label, placeholder, alt, title, testid or frame before a text in quotes",
      { example: "button 'Save' is visible" },
    );
  return found.flatMap((noun) => {
    const by = noun.isOwn === true ? noun.at : (sentence.end(noun.at, NAMED_BY) ?? noun.at);
    const exactly = sentence.end(by, /exactly(?=\s*['"“‘])/iy);
    const isQuoted = sentence.isString(exactly ?? by);
    if (!isQuoted && noun.isOwn !== true && (isRole(noun.word) || TAGS.has(noun.word))) return [];
    // `Search` is a name where something is clicked.
    if (
      !isQuoted &&
      taking === "any" &&
      /^[A-Z]/.test(sentence.rest(at)) &&
      !/button|link|box|radio/.test(noun.word)
    )
      return [];
    const texts: Reading<string | undefined>[] = isQuoted
      ? nonEmpty(sentence, exactly ?? by)
      : [{ value: undefined, at: noun.at, cost: 1 }];
    return texts.flatMap((name) => {
      const value = named(noun, name.value, exactly !== undefined, taking);
      const cost = name.cost + (noun.isOwn === true ? 0 : 0.1);
      return value === undefined ? [] : withLevel(sentence, { value, at: name.at, cost });
    });
  });
}

/** `'Save'`, `'Save' button`. As a text, `'.spinner' is hidden` would always pass, so what looks like CSS is refused. */
function quotedText(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  const [text] = nonEmpty(sentence, at);
  if (text === undefined) return [];
  const after = nounsAt(sentence, text.at, true);
  if (QUOTED_CSS.test(text.value)) {
    // `".save" button`; a step on an element that is missing fails.
    const [noun] = after;
    if (noun !== undefined || taking === "container" || (taking === "any" && !/^[a-z]/.test(text.value)))
      return [{ value: cssOf(text.value), at: noun?.at ?? text.at, cost: noun === undefined ? 2.1 : 0.1 }];
    const css = /^[a-z]/.test(text.value) ? `\`${text.value}\` in backticks` : `${text.value} without quotes`;
    return sentence.fail(at, `${css} for CSS, or text ${quoted(text.value)} for the text`, {
      example: ".spinner is hidden",
      isSure: true,
    });
  }
  const isContainer =
    taking === "container" || taking === "around" ? endingInNoun(text.value, taking) : undefined;
  const fringe = sentence.end(text.at, FRINGE);
  const all = [
    ...after.map((one) => ({ ...one, cost: 0.1 })),
    ...(fringe === undefined ? [] : nounsAt(sentence, fringe))
      .filter(({ noun }) => noun !== "text" && noun !== "element")
      .map((one) => ({ ...one, cost: 1 })),
  ];
  if (/^\d+$/.test(text.value) && after.some(({ word }) => word.endsWith("s"))) return [];
  return [
    { ...text, value: isContainer ?? { kind: "quoted", text: text.value, exact: false } },
    ...all.flatMap(({ cost, ...one }) => {
      // `'Users Table' table`
      const [, alone, last = ""] = /^(\S.*)\s([A-Z][a-z]+)$/.exec(text.value) ?? [];
      const name = alone !== undefined && last.toLowerCase() === one.word ? alone : text.value;
      const noun = { ...one, isOwn: false };
      const value = named(noun, name, false, taking);
      return value === undefined ? [] : withLevel(sentence, { value, at: one.at, cost });
    }),
  ];
}
const QUOTED_CSS =
  /^(?:(?:(?:h[1-6]|div|span|p|ul|ol|li|input|button|section|form|table|nav|main)?(?:[.#][A-Za-z_][\w-]*)+|[a-z][a-z0-9-]*\[[\w-]+(?:[~|^$*]?=.*)?\]|\[[\w-]+(?:[~|^$*]?=.*)?\])(?:\s+|$))+$/;

/** `menu button`, `button Save`; `Sign in` alone where a name is expected. */
function unquotedNames(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  const readings: Reading<Base>[] = [];
  const add = (value: Base | undefined, end: number, cost: number) => {
    if (value !== undefined) readings.push({ value, at: end, cost });
  };
  if (STOP.test(sentence.rest(at)) || NO_BEGINNING.test(sentence.rest(at))) return [];
  for (const name of unquoted(sentence, at, 6)) {
    if (NO_NAME.test(name.value)) break;
    // Not `sign`, and then `in`.
    if (/\b(?:sign|log)$/i.test(name.value) && /^(?:in|out|up|on|off)\b/i.test(sentence.rest(name.at)))
      continue;
    const isTitle = /^[A-Z\d]/.test(name.value);
    const isNumber = /^\d+(?:\s|$)/.test(name.value);
    for (const noun of nounsAt(sentence, name.at)) {
      if (noun.noun === "element" || noun.isOwn === true || (isNumber && noun.word.endsWith("s"))) continue;
      // `a large button labelled 'Save'`, `the index link Contact Us`
      const by = sentence.end(noun.at, NAMED_BY) ?? noun.at;
      if (sentence.isString(by)) {
        for (const text of noun.noun === "text" && by > noun.at ? [] : nonEmpty(sentence, by))
          add(named(noun, text.value, false, taking), text.at, name.cost + 3);
        continue;
      }
      if (!isTitle)
        for (const text of unquoted(sentence, by, 3))
          if (/^[A-Z]/.test(text.value) && isName(text.value, "any"))
            add(named(noun, text.value, false, taking), text.at, name.cost + text.cost);
      // `Settings tab link`, `Sign In submit button`
      const alone = name.value.replace(/\s+(?:submit|reset|tab|action)$/, "");
      // `Welcome message` has this text; an `error message` has another, and a `footer logo` another name.
      if (isTitle || !/^(?:text|img|part|heading)$/.test(noun.noun) || /^(?:section|region)$/.test(noun.word))
        add(named(noun, alone, false, taking), noun.at, name.cost - 2);
    }
    if (isName(name.value, taking)) {
      const isSeen = taking === "named" && isTitle;
      const text = name.value;
      if (taking === "any" || isSeen)
        add({ kind: "quoted", text, exact: false, isGuess: true }, name.at, name.cost + 2);
      else if (text.length < 6 || nearest(text, TARGET_WORDS).length === 0)
        add({ kind: "element", text, isGuess: true }, name.at, name.cost + 2);
    }
  }
  for (const noun of nounsAt(sentence, at)) {
    const from = sentence.end(noun.at, NAMED_BY) ?? noun.at;
    if (noun.isOwn === true || sentence.isString(from) || STOP.test(sentence.rest(from))) continue;
    for (const name of unquoted(sentence, from, noun.noun === "element" ? 1 : 4)) {
      const last = name.value.split(/\s+/).at(-1) ?? "";
      if (
        !STOP.test(last) &&
        !NO_NAME.test(name.value) &&
        !NO_BEGINNING.test(name.value) &&
        /^[A-Z][^\\]*$/.test(name.value)
      )
        add(named(noun, name.value, false, taking), name.at, name.cost);
    }
  }
  return readings;
}

/** Whether words without quotes can be a name. */
function isName(text: string, taking: Taking): boolean {
  const parts = text.split(/\s+/);
  const isNoun = (word: string) => nounNamed(word) !== undefined;
  return (
    taking !== "element" &&
    taking !== "container" &&
    taking !== "around" &&
    (taking === "any"
      ? /^[\p{L}\d]/u
      : /^(?!(?:title|url|page|status|cookie|console|request|response|download|dialog|header|screenshot|focus)\b)\p{L}/iu
    ).test(text) &&
    /^[\p{L}\d\s'’&.,+#/-]*$/u.test(text) &&
    !parts.some((word, n) => word.length > 2 && STOP.test(word) && !(n > 0 && word === "count")) &&
    (taking === "any" || !STOP.test(parts.at(-1) ?? "")) &&
    // `button to accept all cookies`, `index link Contact Us`
    !(
      /^[a-z]/.test(text) &&
      parts.some(
        (word, n) => isNoun(word) && (n === 0 ? parts.length > 1 : /^[A-Z]/.test(parts[n + 1] ?? "")),
      )
    )
  );
}

/** A CSS selector, up to the first word of the language outside its brackets and quotes. */
function selectors(sentence: Sentence, at: number): Reading<Base>[] {
  const { text } = sentence;
  if (!/[A-Za-z#.[*:]/.test(text.charAt(at)) || STOP.test(sentence.rest(at)))
    return sentence.fail(at, "a target: CSS, a role and its name, or a text in quotes");
  const end = selectorEnd(text, at);
  if (end === undefined)
    return sentence.fail(at, "a CSS selector with balanced brackets and quotes", { isSure: true });
  if (
    end !== undefined &&
    end > at &&
    (!/[\w*]/.test(text.slice(at, end)) || /:$/.test(text.slice(at, end).trim()))
  )
    return [];
  if (end === at) return sentence.fail(at, "an HTML element, a role, or a selector in backticks");
  const css = text.slice(at, end).trim();
  const parts = css.split(/\s+/);
  // A single word is a role if there is one, even if an element has that name.
  if (parts.length === 1 && isRole(css.toLowerCase())) return [];
  if (/^[a-z][a-z0-9-]*(?:\s+[a-z][a-z0-9-]*)*$/i.test(css)) {
    // Words are people's words unless they can be nothing else.
    const isPath = parts.every((one, n) =>
      n === parts.length - 1 ? one === one.toLowerCase() : STRUCTURE.test(one),
    );
    if (parts.length > 1 && !isPath) {
      const [first = ""] = parts;
      return isRole(first.toLowerCase())
        ? []
        : [{ value: { kind: "css", css: first }, at: sentence.skip(at + first.length), cost: 1 }];
    }
    return [{ value: { kind: "css", css }, at: sentence.skip(end), cost: parts.length === 1 ? 1 : 2 }];
  }
  return [{ value: { kind: "css", css }, at: sentence.skip(end), cost: 0 }];
}

/** The end of a selector that begins at `start`; undefined if its brackets or quotes are not closed. */
function selectorEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let quote = "";
  let i = start;
  for (; i < text.length; i++) {
    const letter = text.charAt(i);
    if (quote !== "") {
      if (letter === "\\") i += 1;
      else if (letter === quote) quote = "";
    } else if (depth === 0 && (/['"“‘`)\]=<]/.test(letter) || endsBefore(text, start, i))) break;
    else if (letter === "'" || letter === '"') quote = letter;
    else if (letter === "(" || letter === "[") depth += 1;
    else if (letter === ")" || letter === "]") depth -= 1;
  }
  return depth === 0 && quote === "" ? i : undefined;
}

/** Whether the word at `at` continues the sentence, or is not the name of an element. */
function endsBefore(text: string, start: number, at: number): boolean {
  if (at > start && !/[\s,>+~]/.test(text.charAt(at - 1))) return false;
  const rest = text.slice(at);
  const bare = /^[A-Za-z]\w*(?=[\s.#[:,>+~'"]|$)/.exec(rest)?.[0];
  return STOP.test(rest) || (bare !== undefined && !TAGS.has(bare.toLowerCase()));
}

/** A target in the language's own words. */
export function describeTarget({ pick, base, containing, inside }: Target): string {
  const head = pick === undefined ? "" : typeof pick === "number" ? `nth ${pick} ` : `${pick} `;
  const inner = containing === undefined ? "" : ` containing ${quoted(containing)}`;
  const tail = inside === undefined ? "" : ` in ${describeTarget(inside)}`;
  return `${head}${describeBase(base)}${inner}${tail}`;
}

function describeBase(base: Base): string {
  if (base.kind === "css") return /[\s'"]/.test(base.css) ? `\`${base.css}\`` : base.css;
  const exactly = "exact" in base && base.exact ? "exactly " : "";
  if (base.kind === "role") {
    const level = base.level === undefined ? "" : ` level ${base.level}`;
    return `${base.role}${base.name === undefined ? "" : ` ${exactly}${quoted(base.name)}`}${level}`;
  }
  if (base.text === undefined) return base.kind;
  return `${base.kind === "quoted" ? "" : `${base.kind} `}${exactly}${quoted(base.text)}`;
}

export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t")}'`;
}
