import { isMap, parseDocument, stringify } from "yaml";
import { textProblem } from "../change/change.ts";
import { slugOf } from "./note-names.ts";

/**
 * A Markdown note about one entity, in the format of basic-memory and Obsidian: YAML front matter with `title` and `type`, facts as
 * list items `- [category] text`, relations as `- type [[Other note]]`.
 */
export interface Note {
  /** `title`; undefined if the file's name is the title. */
  readonly title: string | undefined;
  readonly type: string | undefined;
  readonly permalink: string | undefined;
  readonly facts: readonly NoteFact[];
  /** Paragraphs and list items that are neither facts nor headings, code or tables. */
  readonly prose: readonly string[];
  /** Whether it has code, tables or HTML. */
  readonly hasMore: boolean;
}

/** A fact. One that is `own` has its line for itself; the others are links in a text. */
type NoteFact =
  | { readonly kind: "observation"; readonly own: true; readonly content: string }
  | {
      readonly kind: "relation";
      readonly own: boolean;
      readonly type: string;
      readonly target: string;
    };

export interface Link {
  readonly type: string;
  readonly target: string;
}

/** The type of an entity whose note has none. */
export const DEFAULT_TYPE = "note";
/** The category of facts without one. */
const FACT = "fact";
/** The type of the relation that a link in a sentence represents. */
const LINKS_TO = "links_to";

const ITEM = /^\s*[-*+]\s+(\S.*)$/u;
const CATEGORY = /^\[([^[\]()]+)\]\s+(\S.*)$/u;
/** Check boxes and times of transcripts look like categories. */
const NO_CATEGORY = /^(?:\s*[xX\P{L}]?\s*|\d{1,3}:\d{2}.*)$/u;
const TAG = /(?:^|\s)#\p{L}/u;
const RELATION = /^(?:"([^"]+)"|'([^']+)'|([^\s[\]"']+))?\s*\[\[([^[\]]+)\]\](?:\s*\(.*\))?$/u;
const LINK = /(?<!!)\[\[([^[\]]+)\]\]/gu;

/** Headings, rows of tables, HTML and rules. */
const NO_PROSE = /^(?:#{1,6}\s|[|<]|-{3,}$|={3,}$)/u;

/** Reads the text of a note. Text that is not understood is ignored. */
export function parseNote(text: string): Note {
  const { fields, body } = frontMatter(text);
  const facts: NoteFact[] = [];
  const prose: string[] = [];
  let hasMore = false;
  let fence: string | undefined;
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) prose.push(paragraph.join("\n"));
    paragraph = [];
  };
  for (const raw of body.split(/(?<=\n)/u)) {
    const trimmed = raw.trim();
    const mark = /^(?:`{3,}|~{3,})/u.exec(trimmed)?.[0];
    if (fence !== undefined) {
      if (mark === trimmed && mark.startsWith(fence)) fence = undefined;
      continue;
    }
    if (mark !== undefined || trimmed === "" || NO_PROSE.test(trimmed)) {
      endParagraph();
      fence = mark;
    }
    hasMore ||= mark !== undefined || /^[|<]/u.test(trimmed);
    if (mark !== undefined) continue;
    const item = ITEM.exec(raw.trimEnd())?.[1];
    if (item !== undefined) endParagraph();
    const found = trimmed.startsWith(">") ? [] : factsOf(item, raw);
    facts.push(...found);
    if (found.some(({ own }) => own) || trimmed === "" || NO_PROSE.test(trimmed)) continue;
    if (item === undefined) paragraph.push(trimmed.replace(/^>\s?/u, ""));
    else prose.push(item.replace(/^\[[ xX]\]\s+/u, ""));
  }
  endParagraph();
  return { ...fields, facts, prose, hasMore };
}

/** The facts on a line; `item` is its text if it is an item of a list. */
function factsOf(item: string | undefined, raw: string): NoteFact[] {
  const readable = (item ?? raw).replace(/`[^`]*`/gu, (code) => " ".repeat(code.length)).trim();
  const relation = item === undefined ? undefined : RELATION.exec(readable);
  if (relation) {
    const [, double, single, word, to = ""] = relation;
    const type = unescaped(double ?? single ?? word ?? LINKS_TO);
    const target = targetOf(to);
    if (isValid("type", type) && isValid("name", target))
      return [{ kind: "relation", own: true, type, target }];
  }
  const found: NoteFact[] = [];
  const content = item === undefined ? undefined : contentOf(item);
  if (content !== undefined && isValid("observation", content))
    found.push({ kind: "observation", own: true, content });
  for (const [, to = ""] of readable.matchAll(LINK)) {
    const target = targetOf(to);
    if (isValid("name", target))
      found.push({ kind: "relation", own: false, type: LINKS_TO, target });
  }
  return found;
}

/** The observation in a list item: with its category, unless that is only `fact`; undefined for other items. */
function contentOf(item: string): string | undefined {
  const [, category = "", rest = ""] = CATEGORY.exec(item) ?? [];
  const isCategory = rest !== "" && !NO_CATEGORY.test(category);
  if (isCategory) return unescaped(category.trim() === FACT ? rest : item);
  return /^\[[^\]]*\]/u.test(item) || !TAG.test(item) ? undefined : unescaped(item);
}

/** The name in a link, without a heading or another text to show. */
function targetOf(link: string): string {
  const [name = ""] = link.split(/[|#^]/u);
  return decodedName(name.trim());
}

function isValid(kind: "name" | "type" | "observation", text: string): boolean {
  return textProblem(kind, text) === undefined;
}

/** The text of a new note. */
export function renderNote(
  name: string,
  type: string,
  observations: readonly string[],
  relations: readonly Link[],
): string {
  const permalink = slugOf(name);
  const front = `---\ntitle: ${scalar(name)}\ntype: ${scalar(type)}\n${permalink === "" ? "" : `permalink: ${permalink}\n`}---\n`;
  const section = (heading: string, items: readonly string[]) =>
    items.length === 0 ? "" : `\n## ${heading}\n${items.map((item) => `${item}\n`).join("")}`;
  return `${front}\n# ${oneLineName(name)}\n${section("Observations", observations.map(observationItem))}${section("Relations", relations.map(relationItem))}`;
}

const oneLineName = (name: string) => name.replace(/\s+/gu, " ").trim().slice(0, 200);

function observationItem(content: string): string {
  const plain = `- ${escaped(content)}`;
  return factsOf(plain.slice(2), plain).some(
    (fact) => fact.kind === "observation" && fact.content === content && CATEGORY.test(content),
  )
    ? plain
    : `- [${FACT}] ${escaped(content)}`;
}

function relationItem({ type, target }: Link): string {
  const label = escaped(type).replace(/[[\]"'`]/gu, (sign) => `&#${sign.charCodeAt(0)};`);
  return `- ${/\s/u.test(label) ? `"${label}"` : label} [[${encodedName(target)}]]`;
}

/** A text on one line: line breaks as `<br>`, other control characters and blanks at the ends as `&#…;`. */
function escaped(text: string): string {
  return text
    .replace(/<br>|&#\d+;/gu, "\\$&")
    .replace(/\n/gu, "<br>")
    .replace(/[\p{Cc}\u2028\u2029]|^\s|\s$/gu, (sign) => `&#${sign.charCodeAt(0)};`);
}

function unescaped(text: string): string {
  return text
    .trim()
    .replace(
      /(\\?)(<br>|&#(\d+);)/gu,
      (_, slash: string, sign: string, code: string | undefined) => {
        if (slash !== "") return sign;
        return code === undefined ? "\n" : String.fromCharCode(Number(code));
      },
    );
}

/** Characters that a link cannot contain, or that would mean something else. */
const NOT_IN_LINKS = /[[\]|#^`\p{Cc}\u2028\u2029]|%(?=u?[0-9A-F]{2})|^\s|\s$/gu;

function encodedName(name: string): string {
  return name.replace(NOT_IN_LINKS, (sign) => {
    const code = sign.charCodeAt(0).toString(16).toUpperCase();
    return code.length <= 2 ? `%${code.padStart(2, "0")}` : `%u${code.padStart(4, "0")}`;
  });
}

/** Only the characters above are decoded: a link of another program can contain `%20`. */
function decodedName(name: string): string {
  return name.replace(/%(?:u([0-9A-F]{4})|([0-9A-F]{2}))/gu, (code, long, short, at: number) => {
    const sign = String.fromCharCode(Number.parseInt(long ?? short, 16));
    const isAtEnd = at === 0 || at + code.length === name.length;
    return /[[\]|#^`%\p{Cc}\u2028\u2029]/u.test(sign) || (isAtEnd && /\s/u.test(sign))
      ? sign
      : code;
  });
}

/** The fields of the front matter, and the text after it. */
function frontMatter(text: string) {
  const found = /^\ufeff?---[ \t]*\r?\n((?:[^\n]*\n)*?)---[ \t]*(?:\r?\n|$)/u.exec(text);
  const none = { title: undefined, type: undefined, permalink: undefined };
  if (!found) return { fields: none, body: text };
  const document = parseDocument(found[1] ?? "", { logLevel: "silent" });
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents)))
    return { fields: none, body: text };
  const field = (name: string) => {
    const value = document.get(name);
    const known =
      typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
    return known.trim() === "" ? undefined : known;
  };
  const title = field("title");
  const type = field("type");
  return {
    body: text.slice(found[0].length),
    fields: {
      title: title !== undefined && isValid("name", title) ? title : undefined,
      type: type !== undefined && isValid("type", type) ? type : undefined,
      permalink: field("permalink"),
    },
  };
}

/** A string in YAML, on one line. */
function scalar(value: string): string {
  const plain = stringify(value, { lineWidth: 0 }).trimEnd();
  // JSON is YAML too, and shows blanks at the ends.
  return plain.includes("\n") || value.trim() !== value ? JSON.stringify(value) : plain;
}
