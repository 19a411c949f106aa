import type { Base } from "./ast.ts";
import { isRole, STOP, STRUCTURE, TAGS } from "./elements.ts";
import type { Reading, Sentence } from "./reader.ts";

/** A CSS selector, up to the first word of the language outside its brackets and quotes. */
export function selectors(sentence: Sentence, at: number): Reading<Base>[] {
  const { text } = sentence;
  if (!/[A-Za-z#.[*:]/.test(text.charAt(at)) || STOP.test(sentence.rest(at)))
    return sentence.fail(at, "a target: CSS, a role and its name, or a text in quotes");
  const end = selectorEnd(text, at);
  if (end === undefined)
    return sentence.fail(at, "a CSS selector with balanced brackets and quotes", { isSure: true });
  if (end === at) return sentence.fail(at, "an HTML element, a role, or a selector in backticks");
  const css = text.slice(at, end).trim();
  const parts = css.split(/\s+/);
  // A single word is a role if there is one, even if an element has that name.
  if (parts.length === 1 && isRole(css.toLowerCase())) return [];
  // `menu button` is CSS only in backticks.
  const isPath = parts.every((one, n) =>
    n === parts.length - 1 ? one === one.toLowerCase() : STRUCTURE.test(one),
  );
  const [first = ""] = parts;
  if (parts.length === 1 || isPath || /[^\sA-Za-z0-9-]/.test(css))
    return [{ value: { kind: "css", css }, at: sentence.skip(end) }];
  return isRole(first.toLowerCase())
    ? []
    : [{ value: { kind: "css", css: first }, at: sentence.skip(at + first.length) }];
}

/** The end of a selector that begins at `start`; undefined if its brackets or quotes are not closed. */
function selectorEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let quote = "";
  let i = start;
  for (; i < text.length; i++) {
    const letter = text.charAt(i);
    // The end of a sentence.
    if (letter === "." && depth === 0 && quote === "" && /^\.\s*$/.test(text.slice(i))) break;
    if (quote !== "") {
      if (letter === "\\") i += 1;
      else if (letter === quote) quote = "";
    } else if (depth === 0 && (/['"“‘`)\]=<]/.test(letter) || endsBefore(text, start, i))) break;
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
