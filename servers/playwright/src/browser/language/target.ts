import type { Base, Role, Target } from "./ast.ts";
import type { Reader } from "./reader.ts";

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
const ALIASES: Readonly<Record<string, Role>> = { image: "img", field: "textbox", nav: "navigation" };

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

/** Words that end a selector without backticks. */
const STOP =
  /^(?:is|isn't|equals?|contain(?:s|ing)?|match(?:es)?|exists?|does|doesn't|not|has|have|count|in|within|masking|with|to|into|on|at|level)(?![\w-])/i;
const NAMED = ["text", "label", "placeholder", "alt", "title", "testid"] as const;
/** Words other than targets that a check begins with. */
const BEGINNINGS = "title,url,status,no,count,screenshot,request to,response,download".split(",");

/** `["first" | "last" | "nth" N] base ["containing" STR] ["in" target]`; only a container may be a frame. */
export function target(reader: Reader, isContainer = false): Target {
  const pick = picked(reader);
  const start = reader.at;
  const base = baseOf(reader);
  if (base.kind === "frame" && !isContainer)
    throw reader.error(
      "an element, and then in frame and its name",
      start,
      "button 'Pay' in frame 'Payment'",
    );
  const containing =
    base.kind !== "frame" && reader.takes("containing")
      ? { containing: nonEmpty(reader, "button 'Add' in listitem containing 'Lamp'") }
      : {};
  return { pick, base, ...containing, inside: reader.takes("in") ? target(reader, true) : undefined };
}

function picked(reader: Reader): Target["pick"] {
  const word = reader.takesOneOf(["first", "last"] as const);
  if (word !== undefined || !reader.takes("nth")) return word;
  const found = reader.takesPattern(/[1-9]\d{0,5}(?!\w)/);
  if (found === undefined) throw reader.error("a position from 1 on after nth");
  return Number(found[0]);
}

function baseOf(reader: Reader): Base {
  if (reader.text.charAt(reader.at) === "`") {
    const css = reader.takesPattern(/`([^`]+)`/)?.[1]?.trim() ?? "";
    if (css === "") throw reader.error("a CSS selector between two backticks");
    return { kind: "css", css };
  }
  if (reader.isAtString()) return quotedText(reader);
  const start = reader.at;
  if (reader.takes("exactly")) return { kind: "quoted", text: nonEmpty(reader), exact: true, at: start };
  const word = reader.takesPattern(/[A-Za-z][\w-]*(?=\s|['"“‘`]|$)/)?.[0] ?? "";
  const exact = word !== "" && /^exactly\s*['"“‘]/i.test(reader.rest) && reader.takes("exactly");
  const lone = word.toLowerCase();
  if (reader.isAtString()) {
    if (lone === "frame") return { kind: "frame", text: nonEmpty(reader) };
    const named = NAMED.find((kind) => kind === lone);
    if (named !== undefined) return { kind: named, text: nonEmpty(reader), exact };
    const role = ALIASES[lone] ?? lone;
    if (isRole(role)) return { kind: "role", role, name: nonEmpty(reader), exact, ...levelOf(reader, role) };
    reader.at = start;
    throw reader.unknownWord(
      "a role (button, link, heading, textbox, …), text, label, placeholder, alt, title, testid or frame before a text in quotes",
      [...ROLES, ...NAMED],
      "button 'Save' is visible",
    );
  }
  // A single word is a role if there is one, even if an element has that name; anything more makes it a selector.
  const role = TAGS.has(lone) ? lone : (ALIASES[lone] ?? lone);
  const isAlone =
    !TAGS.has(lone) || reader.text.slice(start, selectorEnd(reader.text, start)).trim() === word;
  if (isRole(role) && isAlone)
    return { kind: "role", role, name: undefined, exact: false, ...levelOf(reader, role) };
  reader.at = start;
  return selector(reader);
}

function levelOf(reader: Reader, role: Role): { level?: number } {
  if (role !== "heading" || !reader.takes("level")) return {};
  const found = reader.takesPattern(/[1-6](?!\w)/);
  if (found === undefined) throw reader.error("a level from 1 to 6", reader.at, "heading 'News' level 2");
  return { level: Number(found[0]) };
}

/** As a text, `'.spinner' is hidden` would always pass, so quoted text that looks like a selector is refused. */
function quotedText(reader: Reader): Base {
  const start = reader.at;
  const text = nonEmpty(reader);
  if (/^(?:[.#][A-Za-z_][\w-]*|\[[\w-]+(?:[~|^$*]?=.*)?\])$/.test(text))
    throw reader.error(
      `${text} without quotes for CSS, or text ${quoted(text)} for the text`,
      start,
      ".spinner is hidden",
    );
  return { kind: "quoted", text, exact: false, at: start };
}

const nonEmpty = (reader: Reader, example?: string) =>
  reader.checked("a text that is not empty", (text) => text.trim() !== "", example);

/** A CSS selector, up to the first word of the language outside its brackets and quotes. */
function selector(reader: Reader): Base {
  const start = reader.at;
  if (!/[A-Za-z#.[*:]/.test(reader.text.charAt(start)) || STOP.test(reader.rest))
    throw reader.error("a target: CSS, a role and its name, or a text in quotes");
  const end = selectorEnd(reader.text, start);
  if (end === undefined) throw reader.error("a CSS selector with balanced brackets and quotes");
  if (end === start)
    throw reader.unknownWord("an HTML element, a role, or a selector in backticks", [
      ...TAGS,
      ...ROLES,
      ...NAMED,
      ...BEGINNINGS,
    ]);
  reader.at = end;
  reader.skipSpace();
  return { kind: "css", css: reader.text.slice(start, end).trim() };
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
    } else if (depth === 0 && (/['"“‘`)\]]/.test(letter) || endsBefore(text, start, i))) break;
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

/** A target in the language's own words, for messages and `pw_inspect_page`. */
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
  return `${base.kind === "quoted" ? "" : `${base.kind} `}${exactly}${quoted(base.text)}`;
}

export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t")}'`;
}
