import { ToolError } from "@refmcp/core/answer";
import { linearRegex } from "../glob/linear-regex.ts";
import { type Dialects, dialectsOf, UnsupportedRegex } from "./regex-dialects.ts";

/** What is searched for in lines of text. Plain data, so that it can go to a worker. */
export interface TextPattern {
  /** The same expression for each engine. */
  readonly regex: Dialects;
  /** Where the pattern is this very text, letter case and all: it can be found without an engine. */
  readonly literal: string | undefined;
  readonly ignoreCase: boolean;
}

/** The longest pattern that is accepted, in characters. */
export const MOST_PATTERN = 1_000;

/**
 * Checks and translates what to search for.
 *
 * @param text a regular expression of RE2's syntax, or with `literal` the text itself.
 * @throws ToolError `invalid` for an expression that is malformed, too complex, or cannot match within a line.
 */
export async function textPattern(
  text: string,
  options: { literal: boolean; ignoreCase: boolean },
): Promise<TextPattern> {
  const { literal, ignoreCase } = options;
  if (text.length > MOST_PATTERN)
    throw refusal(text, `It has ${text.length} characters; at most ${MOST_PATTERN} are allowed.`, literal);
  try {
    const regex = dialectsOf(literal ? quoted(text) : text);
    await linearRegex(regex.re2, { ignoreCase });
    const plain = literal || /^[A-Za-z0-9_ ]+$/.test(text);
    return { regex, literal: plain && !ignoreCase ? text : undefined, ignoreCase };
  } catch (error) {
    if (error instanceof UnsupportedRegex) throw refusal(text, error.message, literal);
    if (error instanceof SyntaxError) throw refusal(text, sentence(error.message), literal);
    throw error;
  }
}

function quoted(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

function refusal(text: string, reason: string, literal: boolean): ToolError {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return new ToolError("invalid", `The pattern ${JSON.stringify(shown)} cannot be used. ${reason}`, {
    hint: literal
      ? "Search for a part of the text that stands on one line."
      : "Regular expressions are those of RE2, matched line by line; to search for text as it stands, set literal=true.",
  });
}

/** RE2's reason in the form of a sentence. */
function sentence(reason: string): string {
  const text = reason.replace(/^error parsing regexp: /, "").replace(/\.$/, "");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
