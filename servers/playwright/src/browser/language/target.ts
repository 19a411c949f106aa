import type { Base, Target } from "./ast.ts";
import { cssOf, nouns, quotedText, type Taking, unquotedNames } from "./nouns.ts";
import { best, made, quoted, type Reading, remembered, type Sentence } from "./reader.ts";
import { selectors } from "./selectors.ts";
import {
  ARTICLE,
  ATTRIBUTED,
  ATTRIBUTED_ELEMENT,
  CONTAINING,
  INSIDE,
  NTH,
  ORDINALS,
} from "./words.ts";

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
        for (const head of [
          { value: {}, at: next.at, cost: 0 },
          ...details(sentence, next.at, base),
        ]) {
          const value = { pick, base, ...head.value };
          readings.push({
            value: { ...value, inside: undefined },
            at: head.at,
            cost: cost + head.cost,
          });
          const within = base.kind === "frame" ? undefined : sentence.end(head.at, INSIDE);
          const around = within === undefined ? [] : readTarget(sentence, within, "container");
          const whole = (inside: Target) => asName(value, inside) ?? { ...value, inside };
          readings.push(...made(around, whole, cost + head.cost));
        }
      }
    return best(readings, ({ base }) => base.kind);
  });

/** `'Save' in a button` is the button of this name. */
const asName = (
  { pick, base, containing }: Omit<Target, "inside">,
  { inside, ...around }: Target,
): Target | undefined =>
  base.kind === "quoted" &&
  (pick ?? containing) === undefined &&
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
  acted: reader("acted"),
  named: reader("named"),
  described: reader("described"),
};

/** Without a position, or `first`, `nth 2`, `third`. The first name is a name. */
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
  return all;
}

/** `containing 'x'`; `with id 'x'`, which finds the element by itself. */
function details(sentence: Sentence, at: number, base: Base): Reading<Partial<Target>>[] {
  // `the row with 'Ada'`
  const isOneOfMany =
    base.kind === "role" && base.name === undefined && /^(?:row|listitem)$/.test(base.role);
  const text =
    sentence.end(at, CONTAINING) ??
    (isOneOfMany ? sentence.end(at, /with\s+(?=['"“‘])/iy) : undefined);
  const attribute = sentence.take(at, ATTRIBUTED);
  const name = attribute?.found[1]?.toLowerCase() ?? "";
  return [
    ...made(text === undefined ? [] : sentence.words(text), (containing) => ({ containing })),
    ...made(
      attribute === undefined || (base.kind === "css" && !/^(?:\*|[a-z]+)$/.test(base.css))
        ? []
        : sentence.words(attribute.at, "", 0),
      (value): Partial<Target> => ({
        base: /^test\s?id$/.test(name)
          ? { kind: "testid", text: value, exact: false }
          : { kind: "css", css: attributeSelector(name, value) },
      }),
      0.1,
    ),
  ];
}

const attributeSelector = (name: string, value: string) =>
  name === "css" || name.endsWith("selector")
    ? value
    : name === "xpath"
      ? `xpath=${value}`
      : name === "id" && /^[A-Za-z_][\w-]*$/.test(value)
        ? `#${value}`
        : `[${name}${name === "class" ? "~" : ""}=${JSON.stringify(value)}]`;

function bases(
  sentence: Sentence,
  at: number,
  taking: Taking,
  isAfterArticle: boolean,
): Reading<Base>[] {
  if (sentence.text.charAt(at) === "`") {
    const found = sentence.take(at, /`\s*(?!https?:)([^`]*[^`\s])\s*`/y);
    return found === undefined
      ? sentence.fail(at, "a CSS selector between two backticks", { isSure: true })
      : [{ value: { kind: "css", css: found.found[1] ?? "" }, at: found.at, cost: 0 }];
  }
  if (sentence.isString(at)) return quotedText(sentence, at, taking);
  const exactly = sentence.end(at, /exactly(?![\w-])/iy);
  if (exactly !== undefined)
    return made(sentence.quoted(exactly), (text) => ({ kind: "quoted", text, exact: true }));
  const any = sentence.end(at, ATTRIBUTED_ELEMENT);
  return [
    ...(any === undefined ? [] : [{ value: cssOf("*"), at: any, cost: 0.1 }]),
    ...nouns(sentence, at, taking),
    ...selectors(sentence, at).map((one) =>
      // `the main nav` is not a nav in main.
      isAfterArticle && one.cost > 0 && /\s/.test(Object(one.value).css)
        ? { ...one, cost: 6 }
        : one,
    ),
    ...unquotedNames(sentence, at, taking),
  ];
}

export const isBox = ({ base }: Target) =>
  base.kind === "role" && /^(?:checkbox|radio|switch)$/.test(base.role);

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
