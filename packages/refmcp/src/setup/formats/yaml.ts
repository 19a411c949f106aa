import { isMap, isScalar, type Node, type Pair, parseDocument, type YAMLMap } from "yaml";
import type { Json } from "../../hosts/facts.ts";
import { isRecord, type Key, SetupProblem, syntaxProblem, type TextFormat } from "./text-format.ts";

/** YAML. Only whole lines, or items between braces, are added and removed, so everything else is unchanged. */
export const yamlFormat: TextFormat = {
  parse: (text) => documentOf(text).toJS() ?? undefined,
  replace(text, keys, value) {
    const { start, end, indent } = linesOf(text, keys);
    const lines = block(keys.at(-1), value, indent, text);
    return `${text.slice(0, start)}${lines}${text.slice(end)}`;
  },
  insert(text, keys, value) {
    const parent = nodeAt(text, keys.slice(0, -1));
    const key = keys.at(-1);
    if (parent === undefined) return `${withLineEnd(text)}${block(key, value, "", text)}`;
    if (isCollection(parent) && parent.flow === true)
      return insertInFlow(text, keys, parent, value);
    const last = isCollection(parent) ? parent.items.at(-1) : undefined;
    if (last === undefined) throw unusual(keys);
    const indent = indentOf(text, startOf(last));
    const end = endOfLine(text, endOf(last));
    const before = withLineEnd(text.slice(0, end));
    return `${before}${block(key, value, indent, text)}${text.slice(end)}`;
  },
  remove(text, keys) {
    const { start, end } = linesOf(text, keys);
    return text.slice(0, start) + text.slice(end);
  },
};

function documentOf(text: string) {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error === undefined) return document;
  const { line = 1, col = 1 } = error.linePos?.[0] ?? {};
  throw syntaxProblem(
    "YAML",
    (error.message.split(" at line ")[0] ?? "").replace(/\.$/, ""),
    line,
    col,
  );
}

function unusual(keys: readonly Key[]): SetupProblem {
  return new SetupProblem(
    `has ${keys.join(".")} in a form that cannot be changed line by line. Change it by hand.`,
  );
}

type Collection = YAMLMap<Node, Node | null>;
type Item = Pair<Node, Node | null>;

const isCollection = (node: unknown): node is Collection => isMap(node);
const startOf = ({ key }: Item): number => key.range?.[0] ?? 0;
const endOf = ({ key, value }: Item): number => value?.range?.[1] ?? key.range?.[1] ?? 0;

function nodeAt(text: string, keys: readonly Key[]): unknown {
  const document = documentOf(text);
  return (keys.length === 0 ? document.contents : document.getIn(keys, true)) ?? undefined;
}

/** The item at `keys` of the collection around it. */
function itemAt(text: string, keys: readonly Key[]): { parent: Collection; item: Item } {
  const parent = nodeAt(text, keys.slice(0, -1));
  const key = keys.at(-1);
  const items: readonly Item[] = isCollection(parent) ? parent.items : [];
  const item = items.find((one) => isScalar(one.key) && one.key.value === key);
  if (!isCollection(parent) || item === undefined) throw unusual(keys);
  return { parent, item };
}

/** The lines of the item at `keys`, with its indentation. */
function linesOf(
  text: string,
  keys: readonly Key[],
): { start: number; end: number; indent: string } {
  const { parent, item } = itemAt(text, keys);
  if (parent.flow === true) throw unusual(keys);
  const indent = indentOf(text, startOf(item));
  const start = text.lastIndexOf("\n", startOf(item) - 1) + 1;
  return { start, end: endOfLine(text, endOf(item)), indent };
}

/** The white space before an item. */
function indentOf(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function endOfLine(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === "\n") return offset;
  const next = text.indexOf("\n", offset);
  return next === -1 ? text.length : next + 1;
}

const lineEnd = (text: string) => (text.includes("\r\n") ? "\r\n" : "\n");
const withLineEnd = (text: string) =>
  text === "" || text.endsWith("\n") ? text : text + lineEnd(text);

/** The lines of a new item. JSON values are also valid YAML. */
function block(key: Key | undefined, value: Json, indent: string, text: string): string {
  const lines = isRecord(value)
    ? [`${indent}${scalar(key)}:`, ...entriesOf(value, `${indent}  `)]
    : [`${indent}${scalar(key)}: ${JSON.stringify(value)}`];
  return lines.map((line) => line + lineEnd(text)).join("");
}

function entriesOf(value: { [key: string]: unknown }, indent: string): string[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const isNested =
      isRecord(item) && Object.values(item).some((inner) => typeof inner === "object");
    return isNested
      ? [`${indent}${scalar(key)}:`, ...entriesOf(item, `${indent}  `)]
      : [`${indent}${scalar(key)}: ${JSON.stringify(item)}`];
  });
}

function scalar(key: Key | undefined): string {
  return /^[A-Za-z_][\w-]*$/.test(String(key)) ? String(key) : JSON.stringify(key);
}

/** Adds to a collection between braces; an empty one that a key has becomes lines. */
function insertInFlow(text: string, keys: readonly Key[], parent: Collection, value: Json): string {
  const [start = 0, end = 0] = parent.range ?? [];
  const key = keys.at(-1);
  const holder = keys.slice(0, -1);
  if (parent.items.length === 0 && holder.length > 0 && itemAt(text, holder).parent.flow !== true)
    return yamlFormat.replace(text, holder, { [String(key)]: value });
  const item = `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const inside = text.slice(start, end - 1).trimEnd();
  const comma = parent.items.length === 0 || inside.endsWith(",") ? " " : ", ";
  return `${text.slice(0, start)}${inside}${comma}${item}${text.slice(start + inside.length)}`;
}
