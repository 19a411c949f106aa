import { quoted } from "../text.ts";
import type { Base, Role, Target } from "./ast.ts";
import { call, sourceOf } from "./locator.ts";
import type { Sentence } from "./reader.ts";

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
/** Those that a browser names by no text in them, so that `no alert 'Failed'` would always pass. */
const NAMELESS: ReadonlySet<string> = new Set(
  (
    "alert blockquote caption code definition deletion emphasis insertion listitem log mark marquee note paragraph " +
    "status strong subscript superscript term time timer"
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

/** Words before a text, and Playwright's method for each. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ["text", "getByText"],
  ["label", "getByLabel"],
  ["placeholder", "getByPlaceholder"],
  ["alt", "getByAltText"],
  ["title", "getByTitle"],
  ["testid", "getByTestId"],
]);

/** Words that end a target. */
const STOP =
  "(?:text|is|are|contains|containing|includes|equals|matches|exists|does|not|has|count|in|within|masking|with|to|into|from|on|at|level|under|and)(?![\\w-])";

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
  const base = pick === null ? undefined : readBase(sentence, purpose);
  if (pick === null || base === undefined) return undefined;
  if (base.kind === "frame" && purpose !== "around")
    return sentence.fail("an element, and then in frame and its name", {
      at,
      example: "button 'Pay' in frame 'Payment'",
    });
  const containing = sentence.try(() =>
    base.kind !== "frame" && sentence.takeWords("containing|with_text")
      ? sentence.quoted()
      : undefined,
  );
  const inside = sentence.try(() =>
    base.kind !== "frame" && sentence.take(/(?:in|inside|within)(?![\w-])\s*(?=[^\s\d])/iy)
      ? readTarget(sentence, "around")
      : undefined,
  );
  const text = sentence.text.slice(at, sentence.at).replace(/\s+/g, " ").trim();
  return { text, pick, base, inside, ...(containing === undefined ? {} : { containing }) };
}

/** Null if a position is not valid. */
function readPick(sentence: Sentence): Target["pick"] | null {
  const nth = sentence.take(/(?:nth\s+([1-9]\d{0,5})|([1-9]\d{0,5})(?:st|nd|rd|th))(?![\w-])/iy);
  if (nth !== undefined) return Number(nth[1] ?? nth[2]);
  if (sentence.takeWords("first")) return "first";
  if (sentence.takeWords("second")) return 2;
  if (sentence.takeWords("last")) return "last";
  if (!sentence.takeWords("nth")) return undefined;
  sentence.refuse("a position from 1 on after nth", sentence.at, "nth 2 li exists");
  return null;
}

const byCss = (css: string): Base => ({
  kind: css === "body" ? "page" : "element",
  calls: [call("locator", css)],
});

function readBase(sentence: Sentence, purpose: Purpose): Base | undefined {
  if (sentence.rest.startsWith("`")) {
    const css = sentence.take(/`\s*([^`]*[^`\s])\s*`/y)?.[1];
    if (css !== undefined) return byCss(css);
    return sentence.refuse("a CSS selector between two backticks");
  }
  if (sentence.isString) return readQuoted(sentence, purpose);
  if (sentence.takeWords("exactly")) {
    const text = sentence.quoted();
    return text === undefined ? undefined : alone(text, purpose, true);
  }
  if (sentence.takeWords("page")) return byCss("body");
  return sentence.try(() => readNoun(sentence)) ?? readSelector(sentence, purpose);
}

/** A text without a word before it. */
const alone = (text: string, purpose: Purpose, exact = false): Base =>
  purpose === "field" ? field(text, exact) : named("getByText", text, exact, "text");

const named = (
  method: string,
  words: string,
  exact: boolean,
  kind: Base["kind"] = "element",
): Base => ({ kind, calls: [call(method, words, ...(exact ? [{ exact }] : []))], words });

/** A field by its label or placeholder; without a text, any text field. */
const field = (text: string | undefined, exact: boolean): Base => {
  if (text === undefined) return { kind: "field", calls: [call("getByRole", "textbox")] };
  const { calls: or } = named("getByPlaceholder", text, exact);
  return { ...named("getByLabel", text, exact, "field"), or };
};

/** `label 'Email'`, `button exactly 'Save'`, `heading 'News' level 2`, `link`. */
function readNoun(sentence: Sentence): Base | undefined {
  const { at } = sentence;
  const word = sentence.take(/[A-Za-z][\w-]*(?=[\s'"“‘`]|$)/y)?.[0].toLowerCase();
  if (word === undefined) return undefined;
  const exact = sentence.take(/exactly(?=\s*['"“‘])/iy) !== undefined;
  const { isString } = sentence;
  const text = isString ? sentence.quoted() : undefined;
  if (isString && text === undefined) return undefined;
  const method = NAMED.get(word);
  const kind = word === "text" ? "text" : "element";
  if (text !== undefined && method !== undefined) return named(method, text, exact, kind);
  if (text !== undefined && word === "frame") {
    const attributes = ["title", "name", "id"].map(
      (key) => `iframe[${key}=${JSON.stringify(text)}]`,
    );
    return { kind: "frame", calls: [call("frameLocator", attributes.join(", "))] };
  }
  const noun = nounOf(word, text !== undefined);
  if (noun === "field") return field(text, exact);
  if (noun !== undefined) return role(sentence, noun, text, exact);
  if (text === undefined) return undefined;
  return sentence.fail(
    "a role (button, link, heading, textbox, …), text, label, placeholder, alt, title, testid or frame before a text in quotes",
    { at, example: "button 'Save' is visible" },
  );
}

/** What a word before a text names. For an input or a select, its label is meant. */
function nounOf(word: string, isBeforeText = true): "field" | Role | undefined {
  if (word === "field" || (isBeforeText && (word === "input" || word === "select"))) return "field";
  if (isBeforeText && word === "image") return "img";
  return [word, word.replace(/e?s$/, ""), word.replace(/s$/, "")].find(isRole);
}

function role(
  sentence: Sentence,
  noun: Role,
  name: string | undefined,
  isExact: boolean,
): Base | undefined {
  const hasLevel = noun === "heading" && sentence.takeWords("level");
  const level = hasLevel ? sentence.take(/[1-6](?!\w)/y)?.[0] : undefined;
  if (hasLevel && level === undefined)
    return sentence.refuse("a level from 1 to 6", sentence.at, "heading 'News' level 2");
  const options = {
    ...(name === undefined ? {} : { name }),
    ...(isExact ? { exact: true } : {}),
    ...(level === undefined ? {} : { level: Number(level) }),
  };
  const args = Object.keys(options).length === 0 ? [] : [options];
  const base = { kind: "element", calls: [call("getByRole", noun, ...args)], role: noun } as const;
  if (name === undefined || !NAMELESS.has(noun)) return { ...base, words: name };
  const whole = new RegExp(`^\\s*(?:${sourceOf(name)})\\s*$`);
  const inner = call("filter", { hasText: isExact ? whole : name });
  return { ...base, words: name, or: [call("getByRole", noun), inner] };
}

/** `'Save'`, and `'Save' button`, which is button 'Save'. */
function readQuoted(sentence: Sentence, purpose: Purpose): Base | undefined {
  const { at } = sentence;
  const text = sentence.quoted();
  if (text === undefined) return undefined;
  const noun = sentence.try(() =>
    nounOf(sentence.take(/[a-z]+(?![\w-])/iy)?.[0].toLowerCase() ?? ""),
  );
  if (noun === "field") return field(text, false);
  if (noun !== undefined) return role(sentence, noun, text, false);
  if (!isQuotedCss(text)) return alone(text, purpose);
  // A step on an element that is missing fails. As a text, `'.spinner' is hidden` would always pass.
  if (purpose === "step" || purpose === "field")
    return /^[a-z]/.test(text) ? alone(text, purpose) : byCss(text);
  const css = /^[a-z]/.test(text) ? `\`${text}\` in backticks` : `${text} without quotes`;
  return sentence.refuse(
    `${css} for CSS, or text ${quoted(text)} for the text`,
    at,
    ".spinner is hidden",
  );
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
/** Several with spaces between them. */
const CHAIN = new RegExp(
  `\\S+?(?:(\\s*[>+~,](?!=)\\s*|\\s+)(?!${STOP})([.#]?[A-Za-z][^\\s'"]*))+`,
  "iy",
);

function readSelector(sentence: Sentence, purpose: Purpose): Base | undefined {
  const { at, text } = sentence;
  const chain = sentence.peek(CHAIN);
  const css = sentence.peek(new RegExp(STOP, "iy")) ? undefined : sentence.take(SELECTOR)?.[0];
  if (css === undefined || css === "")
    return sentence.fail("a target: CSS, a role and its name, or a text in quotes", { at });
  // A class without its dot, such as no cookie-banner, is an element that no page has.
  if (css.includes("-") && /^[\w-]+$/.test(css))
    return sentence.refuse(
      `.${css} for a class, or \`${css}\` in backticks for a custom element`,
      at,
      text.replace(css, `.${css}`),
    );
  if (/^[A-Za-z]\w*$/.test(css) && !isTag(css))
    return sentence.fail("an HTML element, a role, or a selector in backticks", { at });
  const [all = "", combinator = "", next = ""] = chain ?? [];
  if (/\S/.test(combinator) || /^[.#]/.test(next) || isTag(next))
    return sentence.refuse(
      "backticks around a selector with spaces",
      at,
      text.replace(all, `\`${all}\``),
    );
  if (/^[[(\])=]/.test(text.slice(at + css.length)))
    return sentence.refuse("a CSS selector with balanced brackets and quotes", at);
  // Nothing is in a frame but its document.
  const isFrame = purpose === "around" && /^iframe\b/i.test(css);
  return isFrame ? { kind: "frame", calls: [call("frameLocator", css)] } : byCss(css);
}
