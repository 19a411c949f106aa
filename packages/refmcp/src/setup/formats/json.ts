import {
  findNodeAtLocation,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import type { Json } from "../../hosts/facts.ts";
import { jsonText } from "../../hosts/host-entry.ts";
import { type Key, SetupProblem, syntaxProblem, type TextFormat } from "./text-format.ts";

/** JSON, also with comments and trailing commas. jsonc-parser's own edits would format the lines around them. */
export const jsonFormat: TextFormat = {
  parse(text) {
    const errors: ParseError[] = [];
    const data: unknown = parse(text, errors, { allowTrailingComma: true });
    const [error] = errors;
    if (error === undefined) return data;
    const before = text.slice(0, error.offset).split(/\r\n|\r|\n/);
    // "CommaExpected" → "comma expected"
    const what = printParseErrorCode(error.error)
      .replace(/\B[A-Z]/g, (letter) => ` ${letter}`)
      .toLowerCase();
    throw syntaxProblem("JSON", what, before.length, (before.at(-1)?.length ?? 0) + 1);
  },
  replace(text, keys, value) {
    const { offset, length } = nodeAt(text, keys);
    return splice(text, offset, offset + length, render(text, value, lineIndent(text, offset)));
  },
  insert(text, keys, value) {
    const parent = nodeAt(text, keys.slice(0, -1));
    const key = keys.at(-1);
    const name = typeof key === "string" ? `${JSON.stringify(key)}: ` : "";
    const last = parent.children?.at(-1);
    if (last === undefined) {
      const outer = lineIndent(text, parent.offset);
      const inner = outer + unitOf(text);
      const [open, close] = parent.type === "array" ? ["[", "]"] : ["{", "}"];
      const content = `${open}${eolOf(text)}${inner}${name}${render(text, value, inner)}${eolOf(text)}${outer}${close}`;
      return splice(text, parent.offset, parent.offset + parent.length, content);
    }
    const end = last.offset + last.length;
    const { comma, lineEnd } = after(text, end);
    const indent = lineIndent(text, last.offset);
    // An object on one line stays on it.
    const isOnOwnLine =
      text.slice(0, last.offset).endsWith(indent) && startsLine(text, last.offset);
    if (!isOnOwnLine) {
      const item = `${name}${JSON.stringify(value)}`;
      return comma === undefined
        ? splice(text, end, end, `, ${item}`)
        : splice(text, comma + 1, comma + 1, ` ${item}`);
    }
    const item = `${eolOf(text)}${indent}${name}${render(text, value, indent)}`;
    if (comma !== undefined) return splice(text, lineEnd, lineEnd, `${item},`);
    return splice(splice(text, lineEnd, lineEnd, item), end, end, ",");
  },
  remove(text, keys) {
    const found = nodeAt(text, keys);
    const node = found.parent?.type === "property" ? found.parent : found;
    const siblings = node.parent?.children ?? [];
    const previous = siblings[siblings.indexOf(node) - 1];
    const isLast = siblings.at(-1) === node;
    const { comma, lineEnd } = after(text, node.offset + node.length);
    let end = comma === undefined ? node.offset + node.length : comma + 1;
    let start = node.offset;
    if (startsLine(text, start)) {
      start -= lineIndent(text, start).length;
      start -= text.slice(0, start).endsWith("\r\n") ? 2 : start > 0 ? 1 : 0;
      if (/^[ \t]*$/.test(text.slice(end, lineEnd))) end = lineEnd;
    }
    const without = splice(text, start, end, "");
    if (!isLast || previous === undefined || comma !== undefined) return without;
    // The one before is the last one now.
    const before = after(text, previous.offset + previous.length).comma;
    return before === undefined ? without : splice(without, before, before + 1, "");
  },
};

const splice = (text: string, start: number, end: number, content: string) =>
  text.slice(0, start) + content + text.slice(end);
const eolOf = (text: string) => (text.includes("\r\n") ? "\r\n" : "\n");
const unitOf = (text: string) => /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";

function nodeAt(text: string, keys: readonly Key[]): Node {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root === undefined ? undefined : findNodeAtLocation(root, [...keys]);
  if (node === undefined) throw new SetupProblem(`has ${keys.join(".")} in an unexpected form.`);
  return node;
}

/** The white space at the start of the line around `offset`. */
function lineIndent(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";
}

function startsLine(text: string, offset: number): boolean {
  return /^[ \t]*$/.test(text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset));
}

/** JSON in the indentation and with the line ends of the file. */
function render(text: string, value: Json, indent: string): string {
  const unit = unitOf(text);
  return jsonText(value)
    .split("\n")
    .map((line, index) => {
      const depth = /^ */.exec(line)?.[0].length ?? 0;
      return index === 0 ? line : indent + unit.repeat(depth / 2) + line.slice(depth);
    })
    .join(eolOf(text));
}

/** The comma after an item, if there is one, and the end of the last line with a comment about it. */
function after(text: string, end: number): { comma: number | undefined; lineEnd: number } {
  const tokens = /\s+|(?<comment>\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)|(?<comma>,)/y;
  tokens.lastIndex = end;
  let comma: number | undefined;
  let lineEnd = end;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    if (token.groups?.comma !== undefined) {
      if (comma !== undefined) break;
      comma = token.index;
      lineEnd = tokens.lastIndex;
    } else if (
      token.groups?.comment !== undefined &&
      !text.slice(end, token.index).includes("\n")
    ) {
      lineEnd = tokens.lastIndex;
    }
  }
  return { comma, lineEnd };
}
