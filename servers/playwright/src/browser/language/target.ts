import type { Base, Target } from "./ast.ts";
import { isRole, NAMED, ROLES, TAGS } from "./elements.ts";
import { made, quoted, type Reading, remembered, type Sentence } from "./reader.ts";
import { selectors } from "./selectors.ts";

/** The words that a target can begin with, for suggestions. */
export const TARGET_WORDS: readonly string[] = [...TAGS, ...ROLES, ...NAMED];

/** What a target is for: a check, a step, or around another one, where it may be a frame. */
type Purpose = "check" | "step" | "around";

/** Every way to read a target: `["first" | "last" | "nth" N] base ["containing" STR] ["in" target]`. */
export const readTarget = (
  sentence: Sentence,
  at: number,
  purpose: Purpose,
): readonly Reading<Target>[] => TARGETS[purpose](sentence, at);

const reader = (purpose: Purpose) =>
  remembered((sentence: Sentence, start: number): readonly Reading<Target>[] => {
    const readings = new Map<number, Reading<Target>>();
    const add = (value: Target, at: number) => {
      if (!readings.has(at)) readings.set(at, { value, at });
    };
    for (const { value: pick, at } of picks(sentence, start))
      for (const { value: base, at: next } of bases(sentence, at, purpose)) {
        if (base.kind === "frame" && purpose !== "around") {
          const example = "button 'Pay' in frame 'Payment'";
          sentence.fail(start, "an element, and then in frame and its name", { example });
          continue;
        }
        const containing = sentence.end(next, /containing(?![\w-])/iy);
        for (const { value: inner, at: end } of [
          { value: {}, at: next },
          ...made(containing === undefined ? [] : sentence.quoted(containing), (text) => ({
            containing: text,
          })),
        ]) {
          const value = { pick, base, ...inner };
          add({ ...value, inside: undefined }, end);
          const within =
            base.kind === "frame" ? undefined : sentence.end(end, /in(?![\w-])\s*(?=\S)/iy);
          if (within !== undefined)
            for (const around of readTarget(sentence, within, "around"))
              add({ ...value, inside: around.value }, around.at);
        }
      }
    return [...readings.values()];
  });

const TARGETS = { check: reader("check"), step: reader("step"), around: reader("around") };

function picks(sentence: Sentence, start: number): Reading<Target["pick"]>[] {
  const all: Reading<Target["pick"]>[] = [{ value: undefined, at: start }];
  const nth = sentence.take(start, /nth\s+([1-9]\d{0,5})(?![\w-])/iy);
  if (nth !== undefined) return [{ value: Number(nth.found[1]), at: nth.at }];
  if (/^nth\b/i.test(sentence.rest(start)))
    return sentence.fail(sentence.skip(start + 3), "a position from 1 on after nth", {
      example: "nth 2 li exists",
      isSure: true,
    });
  for (const pick of ["first", "last"] as const) {
    const end = sentence.end(start, new RegExp(`${pick}(?![\\w-])`, "iy"));
    if (end !== undefined) all.push({ value: pick, at: end });
  }
  return all;
}

function bases(sentence: Sentence, at: number, purpose: Purpose): Reading<Base>[] {
  if (sentence.text.charAt(at) === "`") {
    const found = sentence.take(at, /`\s*([^`]*[^`\s])\s*`/y);
    return found === undefined
      ? sentence.fail(at, "a CSS selector between two backticks", { isSure: true })
      : [{ value: { kind: "css", css: found.found[1] ?? "" }, at: found.at }];
  }
  if (sentence.isString(at)) return quotedText(sentence, at, purpose);
  const exactly = sentence.end(at, /exactly(?![\w-])/iy);
  if (exactly !== undefined)
    return made(sentence.quoted(exactly), (text) => ({ kind: "quoted", text, exact: true }));
  const page = sentence.end(at, /page(?![\w-])/iy);
  if (page !== undefined) return [{ value: { kind: "css", css: "body" }, at: page }];
  return [...nouns(sentence, at), ...selectors(sentence, at)];
}

/** `label 'Email'`, `button exactly 'Save'`, `heading 'News' level 2`, `link`. */
function nouns(sentence: Sentence, at: number): Reading<Base>[] {
  const word = sentence.take(at, /[A-Za-z][\w-]*(?=[\s'"“‘`]|$)/y);
  if (word === undefined) return [];
  const name = word.found[0].toLowerCase();
  const noun = NAMED.find((kind) => kind === name) ?? (isRole(name) ? name : undefined);
  const exactly = sentence.end(word.at, /exactly(?=\s*['"“‘])/iy);
  const isQuoted = sentence.isString(exactly ?? word.at);
  if (noun === undefined) {
    if (isQuoted)
      sentence.fail(
        at,
        "a role (button, link, heading, textbox, …), text, label, placeholder, alt, title, testid or frame before a text in quotes",
        { example: "button 'Save' is visible" },
      );
    return [];
  }
  const texts: Reading<string | undefined>[] = isQuoted
    ? sentence.quoted(exactly ?? word.at)
    : [{ value: undefined, at: word.at }];
  return texts.flatMap(({ value: text, at: end }) => {
    const base = baseOf(noun, text, exactly !== undefined);
    return base === undefined ? [] : withLevel(sentence, base, end);
  });
}

function baseOf(
  noun: (typeof NAMED)[number] | Extract<Base, { kind: "role" }>["role"],
  text: string | undefined,
  exact: boolean,
): Base | undefined {
  switch (noun) {
    case "field":
      return { kind: noun, text, exact };
    case "element":
    case "frame":
      return text === undefined ? undefined : { kind: noun, text };
    case "text":
    case "label":
    case "placeholder":
    case "alt":
    case "title":
    case "testid":
      return text === undefined ? undefined : { kind: noun, text, exact };
    default:
      return { kind: "role", role: noun, name: text, exact };
  }
}

function withLevel(sentence: Sentence, base: Base, at: number): Reading<Base>[] {
  const level = sentence.end(at, /level(?![\w-])/iy);
  if (level === undefined || base.kind !== "role" || base.role !== "heading")
    return [{ value: base, at }];
  const found = sentence.take(level, /[1-6](?!\w)/y);
  if (found === undefined)
    return sentence.fail(level, "a level from 1 to 6", {
      example: "heading 'News' level 2",
      isSure: true,
    });
  return [{ value: { ...base, level: Number(found.found[0]) }, at: found.at }];
}

/** `'Save'`. As a text, `'.spinner' is hidden` would always pass, so what looks like CSS is refused. */
function quotedText(sentence: Sentence, at: number, purpose: Purpose): Reading<Base>[] {
  const [text] = sentence.quoted(at);
  if (text === undefined) return [];
  const { value } = text;
  // A step on an element that is missing fails, so it takes what a check does not.
  const isTag = value.length === 1 && TAGS.has(value) && purpose !== "step";
  if (!QUOTED_CSS.test(value) && !isTag)
    return [{ ...text, value: { kind: "quoted", text: value, exact: false } }];
  if (purpose === "step" && !/^[a-z]/.test(value))
    return [{ ...text, value: { kind: "css", css: value } }];
  const css = /^[a-z]/.test(value) ? `\`${value}\` in backticks` : `${value} without quotes`;
  return sentence.fail(at, `${css} for CSS, or text ${quoted(value)} for the text`, {
    example: ".spinner is hidden",
    isSure: true,
  });
}
const QUOTED_CSS =
  /^(?:img|h[1-6]|div|span|[uo]l|li|t[rdh]|svg|iframe)$|^(?:(?:(?:h[1-6]|div|span|p|ul|ol|li|input|button|section|form|table|nav|main)?(?:[.#][A-Za-z_][\w-]*)+|[a-z][a-z0-9-]*\[[\w-]+(?:[~|^$*]?=.*)?\]|\[[\w-]+(?:[~|^$*]?=.*)?\])(?::[a-z-]+(?:\([^)]*\))?)*(?:\s+(?:[>+~]\s+)?|$))+$/;

/** A checkbox, radio button or switch. */
export const isBox = ({ base }: Target) =>
  base.kind === "role" && /^(?:checkbox|radio|switch)$/.test(base.role);

/** A target in words. */
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
