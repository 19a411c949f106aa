import { isMap, isScalar, parseDocument, stringify } from "yaml";
import { textProblem } from "../change/change.ts";
import { digest } from "../store/tables.ts";
import { slugOf } from "./names.ts";

/**
 * A Markdown note about one entity, in the format of basic-memory and Obsidian: YAML front matter with `title` and `type`, facts as
 * list items `- [category] text`, relations as `- type [[Other note]]`. Everything else is kept unchanged.
 */
export interface Note {
  /** `title`; undefined if the file's name is the title. */
  readonly title: string | undefined;
  readonly type: string | undefined;
  readonly permalink: string | undefined;
  readonly facts: readonly NoteFact[];
  /** The lines of the headings under which facts are added. */
  readonly headings: Readonly<Partial<Record<NoteFact["kind"], number>>>;
  /** The mark of a code block that the text ends in. */
  readonly fence: string | undefined;
  /** Paragraphs and list items that are neither facts nor headings, code or tables. */
  readonly prose: readonly string[];
  /** Whether it has code, tables or HTML. */
  readonly hasMore: boolean;
}

/** A fact, and the line that it is on. Only a line that is `own`, and so nothing but this fact, can be removed. */
export type NoteFact = { readonly line: number; readonly own: boolean } & (
  | { readonly kind: "observation"; readonly content: string }
  | { readonly kind: "relation"; readonly type: string; readonly target: string }
);

/** What to change in the text of a note. */
export interface Edits {
  readonly title?: string | undefined;
  readonly type?: string | undefined;
  readonly remove?: (fact: NoteFact) => boolean;
  readonly observations?: readonly string[];
  readonly relations?: readonly Link[];
}

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
const KINDS = ["observation", "relation"] as const;
const HEADINGS = { observation: "## Observations", relation: "## Relations" } as const;

const ITEM = /^\s*[-*+]\s+(\S.*)$/u;
const CATEGORY = /^\[([^[\]()]+)\]\s+(\S.*)$/u;
/** Check boxes and times of transcripts look like categories. */
const NO_CATEGORY = /^(?:\s*[xX\P{L}]?\s*|\d{1,3}:\d{2}.*)$/u;
const TAG = /(?:^|\s)#\p{L}/u;
const RELATION = /^(?:"([^"]+)"|'([^']+)'|([^\s[\]"']+))?\s*\[\[([^[\]]+)\]\](?:\s*\(.*\))?$/u;
const LINK = /(?<!!)\[\[([^[\]]+)\]\]/gu;

/** Headings, rows of tables, HTML and rules. */
const NO_PROSE = /^(?:#{1,6}\s|[|<]|-{3,}$|={3,}$)/u;

/** The key of a fact: what it says, whatever its line looks like. */
export function keyOf(fact: { readonly content: string } | Link): string {
  return digest("content" in fact ? `o\0${fact.content}` : `r\0${fact.type}\0${fact.target}`);
}

/** Reads the text of a note. Text that is not understood is ignored. */
export function parseNote(text: string): Note {
  const lines = linesOf(text);
  const front = frontMatter(text);
  const facts: NoteFact[] = [];
  const prose: string[] = [];
  const headings: Partial<Record<NoteFact["kind"], number>> = {};
  let hasMore = false;
  let fence: string | undefined;
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) prose.push(paragraph.join("\n"));
    paragraph = [];
  };
  for (const [line, raw] of lines.entries()) {
    if (line < front.lines) continue;
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
    for (const kind of KINDS) if (trimmed === HEADINGS[kind]) headings[kind] ??= line;
    const item = ITEM.exec(raw.trimEnd())?.[1];
    if (item !== undefined) endParagraph();
    const found = trimmed.startsWith(">") ? [] : factsOf(item, raw, line);
    facts.push(...found);
    if (found.some(({ own }) => own) || trimmed === "" || NO_PROSE.test(trimmed)) continue;
    if (item === undefined) paragraph.push(trimmed.replace(/^>\s?/u, ""));
    else prose.push(item.replace(/^\[[ xX]\]\s+/u, ""));
  }
  endParagraph();
  return { ...front.fields, facts, headings, fence, prose, hasMore };
}

/** The facts on a line; `item` is its text if it is an item of a list. */
function factsOf(item: string | undefined, raw: string, line: number): NoteFact[] {
  const readable = (item ?? raw).replace(/`[^`]*`/gu, (code) => " ".repeat(code.length)).trim();
  const relation = item === undefined ? undefined : RELATION.exec(readable);
  if (relation) {
    const [, double, single, word, to = ""] = relation;
    const type = unescaped(double ?? single ?? word ?? LINKS_TO);
    const target = targetOf(to);
    if (isValid("type", type) && isValid("name", target))
      return [{ kind: "relation", type, target, line, own: true }];
  }
  const found: NoteFact[] = [];
  const content = item === undefined ? undefined : contentOf(item);
  if (content !== undefined && isValid("observation", content))
    found.push({ kind: "observation", content, line, own: true });
  for (const [, to = ""] of readable.matchAll(LINK)) {
    const target = targetOf(to);
    if (isValid("name", target))
      found.push({ kind: "relation", type: LINKS_TO, target, line, own: false });
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
  return editNote(`${front}\n# ${oneLineName(name)}\n`, { observations, relations });
}

const oneLineName = (name: string) => name.replace(/\s+/gu, " ").trim().slice(0, 200);

/** Changes a note's text and keeps everything else byte for byte. */
export function editNote(text: string, edits: Edits): string {
  const { remove, observations = [], relations = [] } = edits;
  const eol = /\r?\n/u.exec(text)?.[0] ?? "\n";
  const lines = linesOf(text);
  const { facts, headings, fence } = parseNote(text);
  const own = facts.filter((fact) => fact.own);
  const removed = new Set(remove === undefined ? [] : own.filter(remove).map(({ line }) => line));
  const added = {
    observation: observations.map(observationItem),
    relation: relations.map(relationItem),
  };
  /** The lines to insert after each line. */
  const after = new Map<number, string[]>();
  const appended: string[] = [];
  for (const kind of KINDS) {
    if (added[kind].length === 0) continue;
    const at = own.filter((fact) => fact.kind === kind).at(-1)?.line ?? headings[kind];
    if (at === undefined) appended.push("", HEADINGS[kind], ...added[kind]);
    else after.set(at, [...(after.get(at) ?? []), ...added[kind]]);
  }
  const body = lines.flatMap((line, index) => {
    const kept = removed.has(index) ? [] : [line];
    const next = after.get(index);
    if (next === undefined) return kept;
    const ended = kept.map((one) => (one.endsWith("\n") ? one : `${one}${eol}`));
    return [...ended, ...next.map((one) => `${one}${eol}`)];
  });
  let result = body.join("");
  if (appended.length > 0) {
    if (fence !== undefined) appended.unshift(fence);
    const start = result === "" || result.endsWith("\n") ? result : `${result}${eol}`;
    result = `${start}${appended.map((line) => `${line}${eol}`).join("")}`;
  }
  for (const key of ["title", "type"] as const) {
    const value = edits[key];
    if (value !== undefined) result = withField(result, key, value, eol);
  }
  return result;
}

function observationItem(content: string): string {
  const plain = `- ${escaped(content)}`;
  return factsOf(plain.slice(2), plain, 0).some(
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

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/u);
}

/** The front matter: how many lines it takes with its fences, and its fields. */
function frontMatter(text: string) {
  const found = /^\ufeff?---[ \t]*\r?\n((?:[^\n]*\n)*?)---[ \t]*(?:\r?\n|$)/u.exec(text);
  const none = { title: undefined, type: undefined, permalink: undefined };
  if (!found) return { lines: 0, fields: none, source: undefined };
  const source = found[1] ?? "";
  const document = parseDocument(source, { logLevel: "silent" });
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents)))
    return { lines: 0, fields: none, source: undefined };
  const field = (name: string) => {
    const value = document.get(name);
    const known =
      typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
    return known.trim() === "" ? undefined : known;
  };
  const title = field("title");
  const type = field("type");
  return {
    lines: linesOf(found[0]).filter((line) => line !== "").length,
    source,
    fields: {
      title: title !== undefined && isValid("name", title) ? title : undefined,
      type: type !== undefined && isValid("type", type) ? type : undefined,
      permalink: field("permalink"),
    },
  };
}

/** The text with a field of its front matter set. */
function withField(text: string, name: string, value: string, eol: string): string {
  const { source } = frontMatter(text);
  const line = `${name}: ${scalar(value)}${eol}`;
  if (source === undefined) return `---${eol}${line}---${eol}${eol}${text}`;
  // Behind the line with the first fence.
  const at = text.indexOf("\n") + 1;
  const document = parseDocument(source);
  const node = document.get(name, true);
  const [start, end] = (isScalar(node) ? node.range : undefined) ?? [0, 0];
  const edited =
    end === 0
      ? `${line}${source}`
      : `${source.slice(0, start)}${scalar(value)}${source.slice(end)}`;
  return `${text.slice(0, at)}${edited}${text.slice(at + source.length)}`;
}

/** A string in YAML, on one line. */
function scalar(value: string): string {
  const plain = stringify(value, { lineWidth: 0 }).trimEnd();
  // JSON is YAML too, and shows blanks at the ends.
  return plain.includes("\n") || value.trim() !== value ? JSON.stringify(value) : plain;
}
