import type { Base, Target } from "./ast.ts";
import { isRole, NAMED, NO_NAME, ROLES, STOP, STRUCTURE, TAGS } from "./elements.ts";
import { best, type Reading, remembered, type Sentence } from "./reader.ts";
import { ARTICLE, CONTAINING, INSIDE, NAMED_BY, NOUNS, NTH, ORDINALS } from "./words.ts";

/** The words that a target can begin with, for suggestions. */
export const TARGET_WORDS: readonly string[] = [...TAGS, ...ROLES, ...NAMED, "field", "frame"];

/**
 * What a slot takes: a target, one that may be a frame, one named only by its text without quotes (`Sign in`), in any
 * letter case (`username`).
 */
export type Taking = "element" | "container" | "named" | "any";

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
    for (const { value: pick, at: after, cost } of [
      { value: undefined, at: start, cost: 0 },
      ...picks(sentence, start),
    ])
      for (const base of bases(sentence, after, taking)) {
        if (base.value.kind === "frame" && taking !== "container") {
          const example = "button 'Pay' in frame 'Payment'";
          sentence.fail(start, "an element, and then in frame and its name", { example });
          continue;
        }
        const shared = { at: base.at, cost: cost + base.cost };
        for (const { containing, ...end } of [
          { containing: undefined, ...shared },
          ...texts(sentence, base.at, shared),
        ]) {
          const head = { pick, base: base.value, ...(containing === undefined ? {} : { containing }) };
          readings.push({ value: { ...head, inside: undefined }, at: end.at, cost: end.cost });
          const within = sentence.end(end.at, INSIDE);
          if (within === undefined || base.value.kind === "frame") continue;
          for (const { value: inside, ...last } of readTarget(sentence, within, "container"))
            readings.push({ value: { ...head, inside }, at: last.at, cost: end.cost + last.cost });
        }
      }
    return best(readings, ({ base }) => base.kind);
  });
const TARGETS = {
  element: reader("element"),
  container: reader("container"),
  named: reader("named"),
  any: reader("any"),
};

/** `first`, `nth 2`, `third`. The first name is a name. */
function picks(sentence: Sentence, at: number): Reading<Target["pick"]>[] {
  if (/^(?:first|last)\s+name\b/i.test(sentence.rest(at))) return [];
  const nth = sentence.take(at, NTH);
  if (nth !== undefined) {
    const position = Number(nth.found[1] ?? nth.found[2]);
    if (position >= 1 && position < 1e6) return [{ value: position, at: nth.at, cost: 0 }];
  }
  if (/^nth\b/i.test(sentence.rest(at)))
    return sentence.fail(sentence.skip(at + 3), "a position from 1 on after nth", {
      example: "nth 2 li exists",
      isSure: true,
    });
  const found = ORDINALS.find(([pattern]) => sentence.end(at, pattern) !== undefined);
  const end = found === undefined ? undefined : sentence.end(at, found[0]);
  return found === undefined || end === undefined ? [] : [{ value: found[1], at: end, cost: 0 }];
}

function texts(sentence: Sentence, at: number, { cost }: { cost: number }) {
  const end = sentence.end(at, CONTAINING);
  if (end === undefined) return [];
  return words(sentence, end, "a text in quotes").map((one) => ({
    containing: one.value,
    at: one.at,
    cost: cost + one.cost,
  }));
}

/** A text in quotes; or without them, which costs more with each word. */
export function words(
  sentence: Sentence,
  at: number,
  expected: string,
  most = 8,
): readonly Reading<string>[] {
  const code = sentence.take(at, /`([^`]+)`/y);
  if (code !== undefined) return [{ value: code.found[1] ?? "", at: code.at, cost: 0 }];
  if (sentence.isString(at)) {
    const text = sentence.string(at);
    if (text === undefined) return [];
    if (text.value.trim() === "") return sentence.fail(at, "a text that is not empty", { isSure: true });
    return [text];
  }
  sentence.fail(at, expected);
  return unquoted(sentence, at, most);
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

const nonEmpty = (sentence: Sentence, at: number): Reading<string> | undefined => {
  const text = sentence.string(at);
  if (text === undefined || text.value.trim() !== "") return text;
  sentence.fail(at, "a text that is not empty", { isSure: true });
  return undefined;
};

function bases(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  if (sentence.text.charAt(at) === "`") {
    const found = sentence.take(at, /`([^`]+)`/y);
    const css = found?.found[1]?.trim() ?? "";
    if (found === undefined || css === "")
      return sentence.fail(at, "a CSS selector between two backticks", { isSure: true });
    return [{ value: { kind: "css", css }, at: found.at, cost: 0 }];
  }
  if (sentence.isString(at)) return quotedText(sentence, at, taking);
  const exactly = sentence.end(at, /exactly(?![\w-])/iy);
  if (exactly !== undefined) {
    const text = nonEmpty(sentence, exactly);
    return text === undefined ? [] : [{ ...text, value: { kind: "quoted", text: text.value, exact: true } }];
  }
  return [
    ...nouns(sentence, at),
    ...keyworded(sentence, at),
    ...selectors(sentence, at),
    ...unquotedNames(sentence, at, taking),
  ];
}

/** `label 'Email'`, `heading 'News' level 2`, `button`: the language's own words. */
function keyworded(sentence: Sentence, at: number): Reading<Base>[] {
  const found = sentence.take(at, /[A-Za-z][\w-]*(?=\s|['"“‘`]|$)/y);
  if (found === undefined) return [];
  const lone = found.found[0].toLowerCase();
  const exactly = sentence.end(found.at, /exactly(?=\s*['"“‘])/iy);
  const after = exactly ?? found.at;
  const exact = exactly !== undefined;
  if (sentence.isString(after)) {
    const named = NAMED.find((kind) => kind === lone);
    if (named === undefined && !isRole(lone)) {
      if (NOUNS.every(([noun]) => sentence.end(at, noun) === undefined))
        sentence.fail(
          at,
          "a role (button, link, heading, textbox, …), text, label, placeholder, alt, title, testid or frame before a text in quotes",
          { example: "button 'Save' is visible" },
        );
      return [];
    }
    const text = nonEmpty(sentence, after);
    if (text === undefined) return [];
    if (named !== undefined) return [{ ...text, value: { kind: named, text: text.value, exact } }];
    return isRole(lone)
      ? withLevel(sentence, { ...text, value: { kind: "role", role: lone, name: text.value, exact } })
      : [];
  }
  // `Log in` is not in a log.
  if (!isRole(lone) || /^log\s+in\b/i.test(sentence.rest(at))) return [];
  return withLevel(sentence, {
    value: { kind: "role", role: lone, name: undefined, exact: false },
    at: found.at,
    cost: 1,
  });
}

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

type Noun = (typeof NOUNS)[number][1];

/** The nouns at a position; one may be in quotes, as in `"Save" "button"`. */
function nounsAt(sentence: Sentence, at: number): { noun: Noun; word: string; at: number }[] {
  const quote = /["']/.test(sentence.text.charAt(at)) ? 1 : 0;
  return NOUNS.flatMap(([pattern, noun]) => {
    const found = sentence.take(at + quote, pattern);
    if (found === undefined) return [];
    const end = quote === 0 ? found.at : sentence.end(at + 1 + found.found[0].length, /["']/y);
    return end === undefined ? [] : [{ noun, word: found.found[0].toLowerCase(), at: end }];
  });
}

/** A target from people's words: a noun and a name. */
function named(noun: Noun, name: string | undefined, exact: boolean, word: string): Base | undefined {
  switch (noun) {
    case "field":
      if (name !== undefined && /^(?:\(?\/\/|[.#][A-Za-z_-][\w-]*$)/.test(name))
        return named("css", name, exact, word);
      return { kind: "field", text: name, exact };
    case "search":
      return { kind: "field", text: name ?? "search", exact };
    case "css":
      if (name === undefined || (/^[A-Za-z][\w-]*(?: \w+)*$/.test(name) && !TAGS.has(name))) return undefined;
      return { kind: "css", css: /^\(?\/\//.test(name) ? `xpath=${name}` : name };
    case "text":
      // Without its words, nobody knows which element an error message is: `no error message` would always pass.
      return name === undefined ? undefined : { kind: "text", text: name, exact };
    case "page":
      return undefined;
    case "frame":
      return name === undefined ? undefined : { kind: "frame", text: name };
    default:
      return name === undefined && TAGS.has(word) ? undefined : { kind: "role", role: noun, name, exact };
  }
}

/** `button labeled 'Save'`, `the popup`, `dropdown "Color"`. */
function nouns(sentence: Sentence, at: number): Reading<Base>[] {
  return nounsAt(sentence, at).flatMap(({ noun, word, at: end }) => {
    const readings: Reading<Base>[] = [];
    const add = (name: string | undefined, exact: boolean, after: number, cost: number) => {
      const value = named(noun, name, exact, word);
      if (value !== undefined) readings.push(...withLevel(sentence, { value, at: after, cost }));
    };
    const by = sentence.end(end, NAMED_BY);
    const exactly = sentence.end(by ?? end, /exactly(?=\s*['"“‘])/iy);
    const after = exactly ?? by ?? end;
    if (sentence.isString(after)) {
      const text = nonEmpty(sentence, after);
      if (text !== undefined) add(text.value, exactly !== undefined, text.at, 0.1);
    } else if (!isRole(word) && !TAGS.has(word)) add(undefined, false, end, 1.1);
    return readings;
  });
}

/** `'Save'`, `'Save' button`. As a text, `'.spinner' is hidden` would always pass, so what looks like CSS is refused. */
function quotedText(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  const text = nonEmpty(sentence, at);
  if (text === undefined) return [];
  if (
    /^(?:(?:h[1-6]|div|span|p|ul|ol|li|input|button|section|form|table|nav|main)?[.#][A-Za-z_][\w-]*|[a-z][a-z0-9-]*\[[\w-]+(?:[~|^$*]?=.*)?\]|\[[\w-]+(?:[~|^$*]?=.*)?\])$/.test(
      text.value,
    )
  ) {
    // `".save" button`
    const [noun] = nounsAt(sentence, text.at);
    if (noun !== undefined || taking === "container")
      return [{ value: { kind: "css", css: text.value }, at: noun?.at ?? text.at, cost: 0.1 }];
    const css = /^[a-z]/.test(text.value) ? `\`${text.value}\` in backticks` : `${text.value} without quotes`;
    return sentence.fail(at, `${css} for CSS, or text ${quoted(text.value)} for the text`, {
      example: ".spinner is hidden",
      isSure: true,
    });
  }
  const quotedBase: Base = { kind: "quoted", text: text.value, exact: false };
  const withNoun = nounsAt(sentence, text.at).flatMap(({ noun, word, at: end }) => {
    const value = named(noun, text.value, false, word) ?? (noun === "css" ? { ...quotedBase } : undefined);
    return value === undefined ? [] : withLevel(sentence, { value, at: end, cost: 0.1 });
  });
  return [{ ...text, value: quotedBase }, ...withNoun];
}

/** `menu button`, `button Save`; `Sign in` alone where a name is expected. */
function unquotedNames(sentence: Sentence, at: number, taking: Taking): Reading<Base>[] {
  const readings: Reading<Base>[] = [];
  for (const name of unquoted(sentence, at, 6)) {
    if (STOP.test(sentence.rest(at)) || NO_NAME.test(name.value)) break;
    // Not `sign`, and then `in`.
    if (/\b(?:sign|log)$/i.test(name.value) && /^(?:in|out|up|on|off)\b/i.test(sentence.rest(name.at)))
      continue;
    for (const { noun, word, at: end } of nounsAt(sentence, name.at)) {
      if (noun === "css") continue;
      // `a large button labelled 'Save'`
      const by = sentence.end(end, NAMED_BY) ?? end;
      const text = sentence.isString(by) ? sentence.string(by) : undefined;
      const known = text === undefined ? undefined : named(noun, text.value, false, word);
      if (text !== undefined && known !== undefined)
        readings.push({ value: known, at: text.at, cost: name.cost - 1 });
      // `Welcome message` has this text; an `error message` has another.
      if (noun === "text" && !/^[A-Z\d]/.test(name.value)) continue;
      const value = named(noun, name.value, false, word);
      if (value !== undefined) readings.push({ value, at: end, cost: name.cost - 2 });
    }
    if (isName(name.value, taking))
      readings.push({
        value: { kind: "quoted", text: name.value, exact: false },
        at: name.at,
        cost: name.cost + 2,
      });
  }
  for (const { noun, word, at: end } of nounsAt(sentence, at)) {
    if (noun === "css") continue;
    const from = sentence.end(end, NAMED_BY) ?? end;
    if (sentence.isString(from) || STOP.test(sentence.rest(from))) continue;
    for (const name of unquoted(sentence, from, 4)) {
      const value = named(noun, name.value, false, word);
      const last = name.value.split(/\s+/).at(-1) ?? "";
      if (value !== undefined && !STOP.test(last) && !NO_NAME.test(name.value) && /^[A-Z]/.test(name.value))
        readings.push({ value, at: name.at, cost: name.cost });
    }
  }
  return readings;
}

/** Whether words without quotes can be a name. */
function isName(words: string, taking: Taking): boolean {
  if (taking !== "any" && !(taking === "named" && /^[A-Z]/.test(words))) return false;
  return (
    /^[\p{L}\d][\p{L}\d\s'’&.,+#/-]*$/u.test(words) &&
    !words.split(/\s+/).some((word) => word.length > 2 && STOP.test(word))
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
  if (/^[a-z][a-z0-9]*(?:\s+[a-z][a-z0-9]*)*$/i.test(css)) {
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
  const exactly = base.kind !== "frame" && base.exact ? "exactly " : "";
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
