import { nearest } from "@refmcp/boundary/answer";
import type { Base } from "./ast.ts";
import { isRole, NAMED, NO_BEGINNING, NO_NAME, ROLES, STOP, TAGS } from "./elements.ts";
import { quoted, type Reading, remembered, type Sentence } from "./reader.ts";
import { BOX_BY, NAMED_BY, NOUNS, type Noun } from "./words.ts";

/** The words that a target can begin with, for suggestions. */
export const TARGET_WORDS: readonly string[] = [...TAGS, ...ROLES, ...NAMED];

/**
 * What a slot takes: a target; one that may be a frame; one that is clicked or filled, named also without quotes by its
 * text in any letter case (`username`); one that is seen, named by its text (`Sign in`) or described (`the cart badge`); or
 * one whose text is compared, described. `around`: what contains another one.
 */
export type Taking = "element" | "container" | "around" | "any" | "acted" | "named" | "described";

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
      return end === undefined
        ? []
        : [{ noun, word: found.found[0].trim().toLowerCase(), at: end }];
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
  // `the text of ".count"`
  if (noun === "text" && !isOwn && name !== undefined && QUOTED_CSS.test(name)) return undefined;
  switch (noun) {
    case "field":
      if (taking === "container" && !isOwn)
        return named({ noun: "region", word }, name, exact, taking);
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
      if (name !== undefined) return { kind: noun, text: name, exact };
      // Nobody knows the words of an error message: it is an alert, and `no error message` would pass without one.
      return (taking === "named" || taking === "described") && LIVE.test(word)
        ? {
            kind: "role",
            role: /error|warn/.test(word) ? "alert" : "status",
            name,
            exact,
            isGuess: true,
          }
        : undefined;
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
      // `the logo`: one of several images.
      if (name === undefined && noun === "img" && /^(?:logo|icon|avatar|thumbnail)$/.test(word))
        return { kind: "element", text: word, isGuess: true };
      if (isClicked && name !== undefined && /^(?:menu|listitem|navigation)$/.test(noun))
        return { kind: "quoted", text: name, exact };
      return { kind: "role", role: noun, name, exact };
  }
}

const LIVE = /^(?:notification|toast|snackbar|error|warning|confirmation|(?:\w+\s)+message)s?$/;
export const cssOf = (name: string): Extract<Base, { kind: "css" }> => ({
  kind: "css",
  css: /^\(?\/\//.test(name) ? `xpath=${name}` : name,
});

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
  if (level === undefined || role.value.kind !== "role" || role.value.role !== "heading")
    return [role];
  const found = sentence.take(level, /[1-6](?!\w)/y);
  if (found === undefined)
    return sentence.fail(level, "a level from 1 to 6", {
      example: "heading 'News' level 2",
      isSure: true,
    });
  return [{ ...role, value: { ...role.value, level: Number(found.found[0]) }, at: found.at }];
}

/** `label 'Email'`, `heading 'News' level 2`, `button labeled 'Save'`, `the popup`, `dropdown "Color"`. */
export function nouns(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  const found = nounsAt(sentence, at);
  const word = sentence.end(at, /[A-Za-z][\w-]*/y);
  if (found.length === 0 && word !== undefined && sentence.isString(word))
    sentence.fail(
      at,
      "a role (button, link, heading, textbox, …), text, label, placeholder, alt, title, testid or frame before a text in quotes",
      { example: "button 'Save' is visible" },
    );
  return found.flatMap((noun) => {
    const by =
      noun.isOwn === true
        ? noun.at
        : (sentence.end(noun.at, noun.noun === "radio" ? BOX_BY : NAMED_BY) ?? noun.at);
    const exactly = sentence.end(by, /exactly(?=\s*['"“‘])/iy);
    const isQuoted = sentence.isString(exactly ?? by);
    if (!isQuoted && noun.isOwn !== true && (isRole(noun.word) || TAGS.has(noun.word))) return [];
    // `Search` is a name where something is clicked.
    if (
      !isQuoted &&
      taking === "any" &&
      /^[A-Z]/.test(sentence.rest(at)) &&
      !/button|link|box|radio|down/.test(noun.word)
    )
      return [];
    const texts: Reading<string | undefined>[] = isQuoted
      ? sentence.quoted(exactly ?? by)
      : [{ value: undefined, at: noun.at, cost: 1 }];
    return texts.flatMap((name) => {
      const value = named(noun, name.value, exactly !== undefined, taking);
      const cost = name.cost + (noun.isOwn === true ? 0 : 0.1);
      return value === undefined ? [] : withLevel(sentence, { value, at: name.at, cost });
    });
  });
}

/** `'Save'`, `'Save' button`. As a text, `'.spinner' is hidden` would always pass, so what looks like CSS is refused. */
export function quotedText(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  const [text] = sentence.quoted(at);
  if (text === undefined) return [];
  // `the "Name is missing" label` is a text; before a name, it is the label of a field.
  const after = nounsAt(sentence, text.at, true).filter(
    ({ word, isOwn }) => !(word === "label" && isOwn === true && taking !== "any"),
  );
  // A step on an element that is missing fails, so that it takes what a check does not.
  const isInStep = taking === "any" || taking === "acted";
  // Almost every page contains the letter of `'p'`.
  const isTag = text.value.length === 1 && TAGS.has(text.value) && !isInStep && after.length === 0;
  if (QUOTED_CSS.test(text.value) || isTag) {
    // `".save" button`
    const [noun] = after;
    if (noun !== undefined || taking === "container" || (isInStep && !/^[a-z]/.test(text.value)))
      return [
        { value: cssOf(text.value), at: noun?.at ?? text.at, cost: noun === undefined ? 2.1 : 0.1 },
      ];
    // Only a check that fails without such an element is sure to mean one.
    const isSeen = taking === "named" || taking === "described";
    const css = /^[a-z]/.test(text.value)
      ? `\`${text.value}\` in backticks`
      : `${text.value} without quotes`;
    sentence.fail(at, `${css} for CSS, or text ${quoted(text.value)} for the text`, {
      example: ".spinner is hidden",
      isSure: true,
    });
    return isSeen ? [{ ...text, value: { ...cssOf(text.value), isGuess: true }, cost: 2.1 }] : [];
  }
  const isContainer =
    taking === "container" || taking === "around" ? endingInNoun(text.value, taking) : undefined;
  if (/^\d+$/.test(text.value) && after.some(({ word }) => word.endsWith("s"))) return [];
  return [
    { ...text, value: isContainer ?? { kind: "quoted", text: text.value, exact: false } },
    ...after.flatMap((one) => {
      // `'Users Table' table`
      const [, alone, last = ""] = /^(\S.*)\s([A-Z][a-z]+)$/.exec(text.value) ?? [];
      const name = alone !== undefined && last.toLowerCase() === one.word ? alone : text.value;
      const noun = { ...one, isOwn: false };
      const value = named(noun, name, false, taking);
      return value === undefined ? [] : withLevel(sentence, { value, at: one.at, cost: 0.1 });
    }),
  ];
}
const QUOTED_CSS =
  /^(?:img|h[1-6]|div|span|[uo]l|li|t[rdh]|svg|iframe)$|^(?:(?:(?:h[1-6]|div|span|p|ul|ol|li|input|button|section|form|table|nav|main)?(?:[.#][A-Za-z_][\w-]*)+|[a-z][a-z0-9-]*\[[\w-]+(?:[~|^$*]?=.*)?\]|\[[\w-]+(?:[~|^$*]?=.*)?\])(?::[a-z-]+(?:\([^)]*\))?)*(?:\s+(?:[>+~]\s+)?|$))+$/;

/** `menu button`, `button Save`; `Sign in` alone where a name is expected. */
export function unquotedNames(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  const readings: Reading<Base>[] = [];
  const add = (value: Base | undefined, end: number, cost: number) => {
    if (value !== undefined) readings.push({ value, at: end, cost });
  };
  const isStart = /^start\s+(?:button|link|tab)\b/i.test(sentence.rest(at));
  if ((STOP.test(sentence.rest(at)) && !isStart) || NO_BEGINNING.test(sentence.rest(at))) return [];
  for (const name of sentence.unquoted(at, 6)) {
    if (NO_NAME.test(name.value)) break;
    // Not `sign`, and then `in`.
    if (
      /\b(?:sign|log)$/i.test(name.value) &&
      /^(?:in|out|up|on|off)\b/i.test(sentence.rest(name.at))
    )
      continue;
    const isTitle = /^[A-Z\d]/.test(name.value);
    const isNumber = /^\d+(?:\s|$)/.test(name.value);
    for (const noun of nounsAt(sentence, name.at)) {
      // `the name and password fields` are two.
      if (/\band\b/.test(name.value) && noun.word.endsWith("s") && noun.word !== "options")
        continue;
      if (noun.noun === "element" || noun.isOwn === true || (isNumber && noun.word.endsWith("s")))
        continue;
      if (sentence.isString(sentence.end(noun.at, NAMED_BY) ?? noun.at)) continue;
      const value = named(noun, name.value, false, taking);
      // `no empty links` would pass because no link has this name.
      const isGuess = !isTitle && (value?.kind === "role" || value?.kind === "field");
      const guess = isGuess ? { ...value, isGuess } : value;
      // `Welcome message` has this text; an `error message` has another, and a `footer logo` another name.
      if (
        isTitle ||
        !/^(?:text|img|part|heading)$/.test(noun.noun) ||
        /^(?:section|region)$/.test(noun.word)
      )
        add(guess, noun.at, name.cost - 2);
      else if (
        taking === "any" &&
        /^(?:img|part)$/.test(noun.noun) &&
        /^[\w-]+(?: [\w-]+)?$/.test(name.value)
      )
        add(
          { kind: "element", text: `${name.value} ${noun.word}`, isGuess: true },
          noun.at,
          name.cost - 1,
        );
    }
    if (isName(name.value, taking)) {
      const isSeen = taking === "named" && isTitle;
      const text = name.value;
      if (taking === "any" || isSeen)
        add({ kind: "quoted", text, exact: false, isGuess: true }, name.at, name.cost + 2);
      else if (text.length < 6 || !nearest(text, TARGET_WORDS).some((one) => isTypo(text, one)))
        add({ kind: "element", text, isGuess: true }, name.at, name.cost + 2);
    }
  }
  for (const noun of nounsAt(sentence, at)) {
    const from = sentence.end(noun.at, NAMED_BY) ?? noun.at;
    if (noun.isOwn === true || sentence.isString(from) || STOP.test(sentence.rest(from))) continue;
    for (const name of sentence.unquoted(from, noun.noun === "element" ? 1 : 4)) {
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

/** Whether a word is another one with two letters swapped, or one too few or too many. */
const isTypo = (text: string, word: string): boolean => {
  const [short, long] = text.length < word.length ? [text, word] : [word, text];
  return short.length === long.length
    ? [...short].sort().join("") === [...long].sort().join("")
    : [...long].some((_, n) => long.slice(0, n) + long.slice(n + 1) === short);
};

/** Whether words without quotes can be a name. */
function isName(text: string, taking: Taking): boolean {
  const parts = text.split(/\s+/);
  return (
    taking !== "element" &&
    taking !== "acted" &&
    taking !== "container" &&
    (taking === "any"
      ? /^[\p{L}\d]/u
      : /^(?!(?:title|url|page|status|cookie|console|request|response|download|dialog|header|screenshot|focus)\b)\p{L}/iu
    ).test(text) &&
    (taking === "any" ? /^[\p{L}\d\s'’&.,+#/-]*$/u : /^[\p{L}\d\s'’&_-]*$/u).test(text) &&
    !/\w['’]s(?:\s(?:text|value|label)|$)/.test(text) &&
    !parts.some((word, n) => word.length > 2 && STOP.test(word) && !(n > 0 && word === "count")) &&
    (taking === "any" || !/^(?:in|on|of|to|at|as|do)$/.test(parts.at(-1) ?? "")) &&
    // `button to accept all cookies`, `index link Contact Us`
    !parts.some(
      (word, n) =>
        word === word.toLowerCase() &&
        nounNamed(word) !== undefined &&
        (/^(?:in|on|at|from|of|within)$/.test(parts[n + 1] ?? "") || n === 0
          ? !/^(?:text|heading|img|part)$/.test(nounNamed(word) ?? "")
          : /^[A-Z]/.test(parts[n + 1] ?? "")),
    )
  );
}
