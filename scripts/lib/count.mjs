// Counts lines of code: what is left of a file without comments and blank lines.

const PLAIN = /[^/"'`{}]+/y;
const STRING = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/y;
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y;
/** A part of a template literal, up to its end or to the next expression. */
const TEMPLATE = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{)/y;
/** Code after which a slash starts a regular expression; after a value, it divides. */
const BEFORE_REGEX =
  /(?:^|[([{,;=:!&|?+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield))\s*$/;

/** @param {string} source TypeScript or JavaScript @returns {string} the same with empty comments */
export function withoutComments(source) {
  let code = "";
  let at = 0;
  /** How many braces are open in each template expression around the position. @type {number[]} */
  const templates = [];
  /** @type {(pattern: RegExp) => string | undefined} */
  const read = (pattern) => {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    at += text?.length ?? 0;
    return text;
  };
  while (at < source.length) {
    code += read(PLAIN) ?? "";
    const comment = read(COMMENT);
    if (comment !== undefined) {
      code += comment.replace(/[^\n]+/g, "");
      continue;
    }
    const isValueEnd = source[at] !== "/" || !BEFORE_REGEX.test(code.slice(-60));
    const literal = read(STRING) ?? (isValueEnd ? undefined : read(REGEX));
    if (literal !== undefined) {
      code += literal;
      continue;
    }
    const character = source[at++] ?? "";
    code += character;
    const depth = templates.pop();
    const closes = character === "}" && depth === 0;
    if (depth !== undefined && !closes)
      templates.push(depth + (character === "{" ? 1 : character === "}" ? -1 : 0));
    if (character !== "`" && !closes) continue;
    const text = read(TEMPLATE) ?? "";
    code += text;
    if (text.endsWith("${")) templates.push(0);
  }
  return code;
}

/** @type {Record<string, (source: string) => string>} */
const BY_EXTENSION = {
  css: (source) => source.replace(/\/\*[\s\S]*?\*\//g, ""),
  sql: (source) =>
    source.replace(/('(?:[^']|'')*')|--[^\n]*|\/\*[\s\S]*?\*\//g, (_, string = "") => string),
  json: (source) => source,
};

/**
 * A file's lines of code, and their characters without indentation.
 *
 * @param {string} source
 * @param {string} extension `ts`, `mjs`, `css`, `sql` or `json`
 */
export function countCode(source, extension) {
  const code = (BY_EXTENSION[extension] ?? withoutComments)(source);
  const lines = code.split("\n").flatMap((line) => line.trim() || []);
  return { lines: lines.length, characters: lines.join("").length };
}
