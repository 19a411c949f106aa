import { quoted } from "../text.ts";
import type { Base, Role, Target } from "./ast.ts";
import { call, sourceOf } from "./locator.ts";
import type { Sentence } from "./reader.ts";

/** The ARIA roles of Playwright (WAI-ARIA 1.2), without those of words in a text, such as strong or code. */
const ROLES: ReadonlySet<string> = new Set(
  (
    "alert alertdialog application article banner button cell checkbox columnheader combobox complementary " +
    "contentinfo definition dialog document feed figure form grid gridcell group heading img link list listbox " +
    "listitem log main menu menubar menuitem menuitemcheckbox menuitemradio meter navigation note option paragraph " +
    "progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider " +
    "spinbutton status switch tab table tablist tabpanel term textbox timer toolbar tooltip tree treegrid treeitem"
  ).split(" "),
);
/** Those that a browser names by no text in them, so that `no alert 'Failed'` would always pass. */
const NAMELESS = new Set(
  "alert definition listitem log note paragraph status term timer".split(" "),
);
const isRole = (word: string): word is Role => ROLES.has(word);

/** Elements of HTML that are not obsolete: any other bare word is a typo, not a selector. */
const TAGS: ReadonlySet<string> = new Set(
  (
    "a abbr address area article aside audio b blockquote body br button canvas caption cite code col colgroup data " +
    "datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
    "head header hgroup hr html i iframe img input ins kbd label legend li link main map mark math menu meta meter nav " +
    "noscript object ol optgroup option output p picture pre progress q s samp script search section select slot small " +
    "source span strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track " +
    "u ul var video"
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

/**
 * What a target is for: a check, a step, a field, where a text alone is its label or placeholder, or around another
 * target, where it may be a frame.
 */
export type Purpose = "check" | "step" | "field" | "around";

/** Reads `["first" | "last" | "nth" N] base ["containing" TEXT] ["in" target]`. */
export function readTarget(sentence: Sentence, purpose: Purpose): Target | undefined {
  const { at } = sentence;
  sentence.take(/(?:the|an|a(?=\s+(?:first|second|last|nth|[a-z]+\s*['"])))\s+/iy);
  const pick = readPick(sentence);
  if (pick === 0) return sentence.refuse("a position from 1 on", at, "nth 2 li exists");
  const base = readBase(sentence, purpose);
  if (base === undefined) return undefined;
  const isFrame = base.kind === "frame";
  if (isFrame && purpose !== "around")
    return sentence.refuse("an element, and then in frame and its name", at);
  const containing = sentence.try(() =>
    !isFrame && sentence.takeWords("containing|with_text") ? sentence.quoted() : undefined,
  );
  const inside = sentence.try(() =>
    sentence.take(/(?:in|inside|within)(?![\w-])\s*(?=[^\s\d])/iy)
      ? readTarget(sentence, "around")
      : undefined,
  );
  const text = sentence.text.slice(at, sentence.at).replace(/\s+/g, " ").trim();
  return { text, pick, base, inside, ...(containing === undefined ? {} : { containing }) };
}

function readPick(sentence: Sentence): Target["pick"] {
  const pick = /(?:first|second|last|nth(?:\s+(\d{1,6}))?|(\d{1,6})(?:st|nd|rd|th))(?![\w-])/iy;
  const [words, nth, ordinal] = sentence.take(pick) ?? [];
  const word = words?.toLowerCase();
  if (word === undefined || word === "first" || word === "last") return word;
  return word === "second" ? 2 : Number(nth ?? ordinal ?? 0);
}

/** Reads a noun and its text, in either order, a text alone, or CSS. */
function readBase(sentence: Sentence, purpose: Purpose): Base | undefined {
  if (sentence.rest.startsWith("`")) {
    const css = sentence.take(/`\s*([^`]*[^`\s])\s*`/y)?.[1];
    return css === undefined ? sentence.refuse("a CSS selector in backticks") : byCss(css);
  }
  if (sentence.takeWords("page")) return byCss("body");
  const { at } = sentence;
  const first = /(?!exactly\b)[a-z][\w-]*(?=[\s'"`]|$)(?!\s*[>+~]\s*[a-z.#*[:])/iy;
  const word = sentence.take(first)?.[0].toLowerCase();
  const exact = sentence.take(/exactly(?=\s*['"])/iy) !== undefined;
  if (!sentence.isString)
    return (word && readNoun(sentence, word)) || readSelector(sentence, at, purpose);
  const text = sentence.quoted();
  if (text === undefined) return undefined;
  const noun = word ?? sentence.try(() => nounOf(sentence.take(/[a-z]+(?![\w-])/iy)?.[0] ?? ""));
  if (noun !== undefined) {
    const example = "button 'Save' is visible";
    const nouns =
      "a role (button, link, heading, textbox, …), text, label, placeholder, alt, title, testid or frame before a text in quotes";
    return readNoun(sentence, noun, text, exact) ?? sentence.fail(nouns, { at, example });
  }
  const alone = purpose === "field" ? "field" : "text";
  if (exact || !isQuotedCss(text)) return readNoun(sentence, alone, text, exact);
  // A step on an element that is missing fails. As a text, `'.spinner' is hidden` would always pass.
  if (purpose === "step" || purpose === "field")
    return /^[a-z]/.test(text) ? readNoun(sentence, alone, text) : byCss(text);
  const css = /^[a-z]/.test(text) ? `\`${text}\` in backticks` : `${text} without quotes`;
  const both = `${css} for CSS, or text ${quoted(text)} for the text`;
  return sentence.refuse(both, at, ".spinner is hidden");
}

const byCss = (css: string): Base => ({
  kind: css === "body" ? "page" : "element",
  calls: [call("locator", css)],
});

/** What a noun and its text name: `label 'Email'`, `button exactly 'Save'`, `link`. */
function readNoun(
  sentence: Sentence,
  word: string,
  text?: string,
  exact = false,
): Base | undefined {
  const by = (method: string, kind: Base["kind"]): Base => ({
    ...{ kind, words: text },
    calls: [call(method, text ?? "", ...(exact ? [{ exact }] : []))],
  });
  const method = NAMED.get(word);
  if (text !== undefined && method !== undefined)
    return by(method, word === "text" ? "text" : "element");
  if (text !== undefined && /^i?frame$/.test(word)) {
    const names = ["title", "name", "id"].map((key) => `iframe[${key}=${JSON.stringify(text)}]`);
    return { kind: "frame", calls: [call("frameLocator", names.join(", "))] };
  }
  const role = nounOf(word, text !== undefined);
  if (role === undefined || (role === "field" && text === undefined)) return undefined;
  if (role === "field")
    return { ...by("getByLabel", "field"), or: by("getByPlaceholder", "field").calls };
  const level = role === "heading" ? sentence.take(/level\s+([1-6])(?!\w)/iy)?.[1] : undefined;
  const options = {
    ...(text === undefined ? {} : { name: text }),
    ...(exact ? { exact } : {}),
    ...(level === undefined ? {} : { level: Number(level) }),
  };
  const args = Object.keys(options).length === 0 ? [] : [options];
  const base = { kind: "element", calls: [call("getByRole", role, ...args)], role } as const;
  if (text === undefined || !NAMELESS.has(role)) return { ...base, words: text };
  const hasText = exact ? new RegExp(`^\\s*(?:${sourceOf(text)})\\s*$`) : text;
  return { ...base, words: text, or: [call("getByRole", role), call("filter", { hasText })] };
}

/** What a noun means. Before a text, an input or a select is meant by its label. */
function nounOf(noun: string, isBeforeText = true): "field" | Role | undefined {
  const word = noun.toLowerCase();
  if (word === "field" || (isBeforeText && (word === "input" || word === "select"))) return "field";
  if (isBeforeText && word === "image") return "img";
  return [word, word.replace(/e?s$/, ""), word.replace(/s$/, "")].find(isRole);
}

/** What nobody writes as a text: the name of an element, a class, an id, an attribute. `index.html` is a text. */
const LONE_TAG = /^(?:[abipqsu]|img|h[1-6]|div|span|[uo]l|li|t[rdh]|svg|iframe)$/;
const QUOTED_PART =
  /^(?:(?:h[1-6]|div|span|p|ul|ol|li|input|button|section|form|table|nav|main)?(?:[.#][A-Za-z_][\w-]*)+|(?:[a-z][a-z0-9-]*)?\[[\w-]+(?:[~|^$*]?=[^\]]*)?\])(?::[a-z-]+(?:\([^)]*\))?)*$/;
const isQuotedCss = (text: string) =>
  LONE_TAG.test(text) || text.split(/\s+(?:[>+~]\s+)?/).every((part) => QUOTED_PART.test(part));

const COMPOUND =
  /(?:[A-Za-z][\w-]*|\*)?(?:[.#][A-Za-z_-][\w-]*|\[[^\]'"]*(?:'[^']*'|"[^"]*")?[^\]'"]*\]|::?[a-z-]+(?:\((?:[^()]|\([^()]*\))*\))?)*/;
/** Between two elements; `> 4` is a number. */
const COMBINATOR = /\s*[>+~]\s*(?=[a-z.#*[:])/i;
/** A selector that needs no backticks: `li:nth-child(2)`, `.a.b > li`, `input[type=file]`. */
const SELECTOR = new RegExp(
  `(?!\\s*[>+~])${COMPOUND.source}(?:${COMBINATOR.source}${COMPOUND.source})*`,
  "iy",
);
/** More of a selector, after a space. */
const MORE = new RegExp(
  `(?:[>+~,](?!=)\\s*[.#]?[a-z]|[.#][a-z]|(?:${[...TAGS].join("|")})(?![\\w-]))[^\\s'"]*`,
  "iy",
);

function readSelector(sentence: Sentence, at: number, purpose: Purpose): Base | undefined {
  const { text } = sentence;
  sentence.at = at;
  const css = sentence.take(SELECTOR)?.[0] ?? "";
  if (css === "")
    return sentence.fail("a target: CSS, a role and its name, or a text in quotes", { at });
  // A class without its dot, such as no cookie-banner, is an element that no page has.
  const parts = css.split(COMBINATOR);
  const words = parts.filter((part) => /^[A-Za-z][\w-]*$/.test(part) && !isTag(part));
  const dashed = words.find((word) => word.includes("-"));
  if (dashed !== undefined)
    return sentence.refuse(
      `.${dashed} for a class, or \`${css}\` in backticks for a custom element`,
      at,
      text.replace(dashed, `.${dashed}`),
    );
  if (words.length > 0)
    return sentence.fail("an HTML element, a role, or a selector in backticks", { at });
  const end = sentence.at;
  while (sentence.take(MORE) !== undefined);
  const all = text.slice(at, sentence.at).trimEnd();
  // Alone, such a word is the role: link, dialog, menu.
  const hasRole = parts.length > 1 && parts.some((part) => nounOf(part, false) !== undefined);
  if (sentence.at > end || hasRole)
    return sentence.refuse(
      "backticks around a selector with spaces",
      at,
      text.replace(all, `\`${all}\``),
    );
  // Nothing is in a frame but its document.
  const isFrame = purpose === "around" && /^iframe\b/i.test(css);
  return isFrame ? { kind: "frame", calls: [call("frameLocator", css)] } : byCss(css);
}
