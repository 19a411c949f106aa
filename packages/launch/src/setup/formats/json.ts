import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import type { Json } from "../../hosts/facts.ts";
import { type Key, syntaxProblem, type TextFormat } from "./text-format.ts";

/** JSON, also with comments and trailing commas. */
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
  replace: (text, keys, value) => edit(text, keys, value, false),
  insert: (text, keys, value) => edit(text, keys, value, typeof keys.at(-1) === "number"),
  remove: (text, keys) => edit(text, keys, undefined, false),
};

function edit(
  text: string,
  keys: readonly Key[],
  value: Json | undefined,
  isArrayInsertion: boolean,
): string {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 4 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
  return applyEdits(text, modify(text, [...keys], value, { formattingOptions, isArrayInsertion }));
}
