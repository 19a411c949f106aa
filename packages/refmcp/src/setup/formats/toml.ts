import { parse, stringify, TomlError } from "smol-toml";
import type { Json } from "../../hosts/facts.ts";
import { isRecord, type Key, SetupProblem, syntaxProblem, type TextFormat } from "./text-format.ts";

/** TOML. A server is usually a section, so sections are added, replaced and removed as lines. */
export const tomlFormat: TextFormat = {
  parse(text) {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const what = (
        /^Invalid TOML document: (.*)$/m.exec(error.message)?.[1] ?? "syntax error"
      ).trim();
      throw syntaxProblem("TOML", what, error.line, error.column);
    }
  },
  replace(text, keys, value) {
    const sections = sectionsOf(text, keys);
    const [first] = sections;
    if (first === undefined) throw inline(keys);
    const without = withoutSections(text, sections.slice(1));
    return `${without.slice(0, first.start)}${section(text, keys, value)}${without.slice(first.end)}`;
  },
  insert(text, keys, value) {
    const end = text === "" || text.endsWith("\n") ? "" : lineEnd(text);
    const gap = text.trim() === "" ? "" : lineEnd(text);
    return `${text}${end}${gap}${section(text, keys, value)}`;
  },
  remove(text, keys) {
    const sections = sectionsOf(text, keys);
    if (sections.length === 0) throw inline(keys);
    return withoutSections(text, sections);
  },
};

function inline(keys: readonly Key[]): SetupProblem {
  return new SetupProblem(
    `has ${keys.join(".")} in a form that is not a section. Change it by hand.`,
  );
}

const lineEnd = (text: string) => (text.includes("\r\n") ? "\r\n" : "\n");

function section(text: string, keys: readonly Key[], value: Json): string {
  const nested = keys.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
  return `${stringify(nested).trimEnd()}\n`.replaceAll("\n", lineEnd(text));
}

interface Section {
  readonly start: number;
  end: number;
}

/** The sections of the table at `keys` and the tables in it; the comments before the next section are not part of it. */
function sectionsOf(text: string, keys: readonly Key[]): Section[] {
  const found: Section[] = [];
  let current: Section | undefined;
  let offset = 0;
  for (const line of text.split(/(?<=\n)/)) {
    const header = headerOf(line);
    if (header !== undefined) {
      current = keys.every((key, index) => header[index] === key)
        ? { start: offset, end: offset }
        : undefined;
      if (current !== undefined) found.push(current);
    }
    offset += line.length;
    if (current !== undefined && !isBlankOrComment(line)) current.end = offset;
  }
  return found;
}

const isBlankOrComment = (line: string) => /^\s*(?:#|$)/.test(line);

/** The keys of `[a.b]` or `[[a.b]]`. */
function headerOf(line: string): string[] | undefined {
  if (!/^\s*\[/.test(line)) return undefined;
  try {
    let node: unknown = parse(line);
    const keys: string[] = [];
    for (;;) {
      if (Array.isArray(node)) node = node[0];
      const [key] = isRecord(node) ? Object.keys(node) : [];
      if (key === undefined || !isRecord(node)) return keys;
      keys.push(key);
      node = node[key];
    }
  } catch {
    // A line of an array or of a text over several lines.
    return undefined;
  }
}

function withoutSections(text: string, sections: readonly Section[]): string {
  let result = text;
  for (const { start, end } of sections.toReversed()) {
    const before = result.slice(0, start);
    const after = result.slice(end);
    // The blank line before a section goes with it at the end of the file.
    result =
      after.trim() === ""
        ? before.replace(/(\r?\n)(?:\r?\n)+$/, "$1") + after
        : before + after.replace(/^(?:\r?\n)+/, "");
  }
  return result;
}
