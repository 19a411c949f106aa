import { quoted } from "../text.ts";
import type { Base, Role, Target } from "./ast.ts";
import { type Sentence, wordPattern } from "./reader.ts";

/** The ARIA roles of Playwright (WAI-ARIA 1.2). */
const ROLES: ReadonlySet<string> = new Set(
  (
    "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader " +
    "combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure form " +
    "generic grid gridcell group heading img insertion link list listbox listitem log main marquee math meter " +
    "menu menubar menuitem menuitemcheckbox menuitemradio navigation none note option paragraph presentation " +
    "progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider " +
    "spinbutton status strong subscript superscript switch tab table tablist tabpanel term textbox time timer " +
    "toolbar tooltip tree treegrid treeitem"
  ).split(" "),
);
const isRole = (word: string): word is Role => ROLES.has(word);

/** HTML and common SVG elements: any other bare word is a typo, not a selector. */
const TAGS: ReadonlySet<string> = new Set(
  (
    "a abbr address area article aside audio b base bdi bdo blockquote body br button canvas caption center cite code " +
    "col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer " +
    "form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li main " +
    "map mark marquee math menu meta meter nav noscript object ol optgroup option output p param picture pre progress " +
    "q rp rt ruby s samp script search section select slot small source span strong style sub summary sup svg table " +
    "tbody td template textarea tfoot th thead time title tr track u ul var video wbr circle defs ellipse g line path " +
    "polygon polyline rect text tspan use"
  ).split(" "),
);
const isTag = (word: string) => TAGS.has(word.toLowerCase());

const NAMED = ["text", "label", "placeholder", "alt", "title", "testid", "field", "frame"] as const;

/** Words that end a target. */
const STOPS =
  "text|is|are|contains|containing|includes|equals|matches|exists|does|not|has|count|in|within|masking|with|to|into|from|on|at|level|under|and";
const STOP = new RegExp(`^(?:${STOPS})(?![\\w-])`, "i");

/**
 * What a target is for: a check, a step, a field, where a text alone is its label or placeholder, or around another
 * target, where it may be a frame.
 */
export type Purpose = "check" | "step" | "field" | "around";

/** Reads `["first" | "last" | "nth" N] base ["containing" TEXT] ["in" target]`. */
export function readTarget(sentence: Sentence, purpose: Purpose): Target | undefined {
  const { at } = sentence;
  sentence.take(/(?:the|an|a(?=\s+(?:first|second|last|nth|[a-z]+\s*['"“])))\s+/iy);
  const pick = readPick(sentence);
  if (pick === null) return undefined;
  const base = readBase(sentence, purpose);
  if (base === undefined) return undefined;
  if (base.kind === "frame" && purpose !== "around")
    return sentence.fail("an element, and then in frame and its name", {
      at,
      example: "button 'Pay' in frame 'Payment'",
    });
  const containing = sentence.try(() =>
    sentence.take(wordPattern("containing|with_text")) === undefined
      ? undefined
      : sentence.quoted(),
  );
  const inside =
    base.kind === "frame"
      ? undefined
      : sentence.try(() =>
          sentence.take(/(?:in|inside|within)(?![\w-])\s*(?=[^\s\d])/iy) === undefined
            ? undefined
            : readTarget(sentence, "around"),
        );
  return { pick, base, ...(containing === undefined ? {} : { containing }), inside };
}

/** Null if a position is not valid. */
function readPick(sentence: Sentence): Target["pick"] | null {
  const nth = sentence.take(/(?:nth\s+([1-9]\d{0,5})|([1-9]\d{0,5})(?:st|nd|rd|th))(?![\w-])/iy);
  if (nth !== undefined) return Number(nth[1] ?? nth[2]);
  const word = sentence.take(/(?:first|second|last|nth)(?![\w-])/iy)?.[0].toLowerCase();
  if (word === "nth")
    sentence.fail("a position from 1 on after nth", { isSure: true, example: "nth 2 li exists" });
  const picks = { first: "first", second: 2, last: "last", nth: null } as const;
  return word === undefined ? undefined : picks[word as keyof typeof picks];
}

function readBase(sentence: Sentence, purpose: Purpose): Base | undefined {
  if (sentence.rest.startsWith("`")) {
    const css = sentence.take(/`\s*([^`]*[^`\s])\s*`/y)?.[1];
    if (css !== undefined) return { kind: "css", css };
    return sentence.fail("a CSS selector between two backticks", { isSure: true });
  }
  if (sentence.isString) return readQuoted(sentence, purpose);
  if (sentence.take(wordPattern("exactly")) !== undefined) {
    const text = sentence.quoted();
    return text === undefined ? undefined : alone(text, purpose, true);
  }
  if (sentence.take(wordPattern("page")) !== undefined) return { kind: "css", css: "body" };
  return sentence.try(() => readNoun(sentence)) ?? readSelector(sentence);
}

/** A text without a word before it. */
const alone = (text: string, purpose: Purpose, exact = false): Base => ({
  ...{ kind: purpose === "field" ? "field" : "text", text, exact },
});

/** `label 'Email'`, `button exactly 'Save'`, `heading 'News' level 2`, `link`. */
function readNoun(sentence: Sentence): Base | undefined {
  const { at } = sentence;
  const word = sentence.take(/[A-Za-z][\w-]*(?=[\s'"“‘`]|$)/y)?.[0].toLowerCase();
  if (word === undefined) return undefined;
  const exact = sentence.take(/exactly(?=\s*['"“‘])/iy) !== undefined;
  const { isString } = sentence;
  const noun = nounOf(word, isString);
  if (noun === undefined) {
    if (!isString) return undefined;
    return sentence.fail(
      "a role (button, link, heading, textbox, …), text, label, placeholder, alt, title, testid or frame before a text in quotes",
      { at, example: "button 'Save' is visible" },
    );
  }
  const text = isString ? sentence.quoted() : undefined;
  if (isString && text === undefined) return undefined;
  if (noun === "field") return { kind: noun, text, exact };
  if (isRole(noun)) return withLevel(sentence, { kind: "role", role: noun, name: text, exact });
  if (text === undefined) return undefined;
  return noun === "frame" ? { kind: noun, text } : { kind: noun, text, exact };
}

/** What a word before a text names. For an input or a select, its label is meant. */
function nounOf(word: string, isBeforeText = true): (typeof NAMED)[number] | Role | undefined {
  if (isBeforeText && (word === "input" || word === "select")) return "field";
  if (isBeforeText && word === "image") return "img";
  const role = [word, word.replace(/e?s$/, ""), word.replace(/s$/, "")].find(isRole);
  return NAMED.find((kind) => kind === word) ?? role;
}

function withLevel(sentence: Sentence, base: Extract<Base, { kind: "role" }>): Base | undefined {
  if (base.role !== "heading" || sentence.take(wordPattern("level")) === undefined) return base;
  const level = sentence.take(/[1-6](?!\w)/y)?.[0];
  if (level !== undefined) return { ...base, level: Number(level) };
  return sentence.fail("a level from 1 to 6", {
    isSure: true,
    example: "heading 'News' level 2",
  });
}

/** `'Save'`, and `'Save' button`, which is button 'Save'. */
function readQuoted(sentence: Sentence, purpose: Purpose): Base | undefined {
  const { at } = sentence;
  const text = sentence.quoted();
  if (text === undefined) return undefined;
  const noun = sentence.try(() => {
    const named = nounOf(sentence.take(/[a-z]+(?![\w-])/iy)?.[0].toLowerCase() ?? "");
    return named === "field" || (named !== undefined && isRole(named)) ? named : undefined;
  });
  if (noun === "field") return { kind: noun, text, exact: false };
  if (noun !== undefined) return { kind: "role", role: noun, name: text, exact: false };
  if (!isQuotedCss(text)) return alone(text, purpose);
  const isStep = purpose === "step" || purpose === "field";
  // A step on an element that is missing fails. As a text, `'.spinner' is hidden` would always pass.
  if (isStep) return /^[a-z]/.test(text) ? alone(text, purpose) : { kind: "css", css: text };
  const css = /^[a-z]/.test(text) ? `\`${text}\` in backticks` : `${text} without quotes`;
  return sentence.fail(`${css} for CSS, or text ${quoted(text)} for the text`, {
    at,
    ...{ isSure: true, example: ".spinner is hidden" },
  });
}

/** What nobody writes as a text: the name of an element, a class, an id, an attribute. `index.html` is a text. */
const LONE_TAG = /^(?:[abipqsu]|img|h[1-6]|div|span|[uo]l|li|t[rdh]|svg|iframe)$/;
const QUOTED_PART =
  /^(?:(?:h[1-6]|div|span|p|ul|ol|li|input|button|section|form|table|nav|main)?(?:[.#][A-Za-z_][\w-]*)+|(?:[a-z][a-z0-9-]*)?\[[\w-]+(?:[~|^$*]?=[^\]]*)?\])(?::[a-z-]+(?:\([^)]*\))?)*$/;
const isQuotedCss = (text: string) =>
  LONE_TAG.test(text) || text.split(/\s+(?:[>+~]\s+)?/).every((part) => QUOTED_PART.test(part));

/** A selector without spaces: `li:nth-child(2)`, `.a.b`, `input[type=file]`. */
const SELECTOR =
  /(?:[A-Za-z][\w-]*|\*)?(?:[.#][A-Za-z_-][\w-]*|\[[^\]'"]*(?:'[^']*'|"[^"]*")?[^\]'"]*\]|::?[a-z-]+(?:\((?:[^()]|\([^()]*\))*\))?)*/iy;

function readSelector(sentence: Sentence): Base | undefined {
  const { at, text } = sentence;
  if (!/[A-Za-z#.[*:]/.test(text.charAt(at)) || STOP.test(sentence.rest))
    return sentence.fail("a target: CSS, a role and its name, or a text in quotes");
  const css = sentence.take(SELECTOR)?.[0] ?? "";
  // A class without its dot, such as no cookie-banner, is an element that no page has.
  if (css.includes("-") && /^[\w-]+$/.test(css))
    return sentence.fail(`.${css} for a class, or \`${css}\` in backticks for a custom element`, {
      ...{ at, isSure: true, example: sentence.text.replace(css, `.${css}`) },
    });
  if (css === "" || (/^[A-Za-z]\w*$/.test(css) && !isTag(css)))
    return sentence.fail("an HTML element, a role, or a selector in backticks", { at });
  const { rest } = sentence;
  if (
    /^(?:[>+~,](?!=)|[.#][A-Za-z])/.test(rest) ||
    (!STOP.test(rest) && /^[\w-]+$/.test(css) && isTag(/^\w+/.exec(rest)?.[0] ?? ""))
  )
    return sentence.fail("backticks around a selector with spaces", {
      ...{ at, isSure: true, example: "`main > .item` is visible" },
    });
  if (/^[[(\])=]/.test(text.slice(at + css.length)))
    return sentence.fail("a CSS selector with balanced brackets and quotes", { at, isSure: true });
  return { kind: "css", css };
}

/** A target in words. */
export function describeTarget({ pick, base, containing, inside }: Target): string {
  const head = pick === undefined ? "" : typeof pick === "number" ? `nth ${pick} ` : `${pick} `;
  const inner = containing === undefined ? "" : ` containing ${quoted(containing)}`;
  const tail = inside === undefined ? "" : ` in ${describeTarget(inside)}`;
  return `${head}${describeBase(base)}${inner}${tail}`;
}

function describeBase(base: Base): string {
  if (base.kind === "locator") return base.text;
  if (base.kind === "css") return /[\s'"]/.test(base.css) ? `\`${base.css}\`` : base.css;
  const text = base.kind === "role" ? base.name : base.text;
  const noun = base.kind === "role" ? base.role : base.kind === "text" ? undefined : base.kind;
  return [
    ...(noun === undefined ? [] : [noun]),
    ...("exact" in base && base.exact ? ["exactly"] : []),
    ...(text === undefined ? [] : [quoted(text)]),
    ...("level" in base ? [`level ${base.level}`] : []),
  ].join(" ");
}
