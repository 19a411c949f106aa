import { grouped, ToolError } from "@refmcp/boundary/answer";
import { quote } from "../read/names.ts";

/** What each text is called, and its maximum length in UTF-16 units. */
const TEXTS = {
  name: ["An entity's name", 10_000],
  type: ["A type", 500],
  observation: ["An observation", 50_000],
} as const;

/** What is wrong with a text to store, as a clause; undefined if it is valid. */
export function textProblem(kind: keyof typeof TEXTS, text: string): string | undefined {
  const [what, max] = TEXTS[kind];
  if (text.trim() === "") return `${what} must not be empty`;
  return text.length > max
    ? `${what} can have at most ${grouped(max)} characters; this one has ${grouped(text.length)}`
    : undefined;
}

/**
 * Checks a text and returns it well-formed: half a surrogate pair, which no store keeps, becomes U+FFFD.
 *
 * @param where the argument, for example `entities.0.name`.
 * @throws ToolError `invalid`.
 */
export function checkedText(kind: keyof typeof TEXTS, text: string, where: string): string {
  const problem = textProblem(kind, text);
  if (problem === undefined) return text.toWellFormed();
  throw new ToolError("invalid", `${where}: ${problem}; got ${quote(text)}.`, {
    hint: "Nothing was changed. Correct it and repeat the entire call.",
  });
}
