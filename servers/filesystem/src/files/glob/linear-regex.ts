import type { RE2JS } from "re2js";

/** A regular expression that is matched in time linear in the text (RE2's guarantee), whatever the pattern. */
export interface LinearRegex {
  /** Whether it matches somewhere in `text`. */
  test(text: string): boolean;
}

let library: Promise<typeof RE2JS> | undefined;

/**
 * Compiles an expression of RE2's syntax, in which `.` matches a line end too. The engine is loaded on first use (about
 * 6 ms).
 *
 * @throws SyntaxError with RE2's reason for an invalid expression.
 */
export async function linearRegex(source: string): Promise<LinearRegex> {
  library ??= import("re2js").then((module) => module.RE2JS);
  const Engine = await library;
  try {
    return Engine.compile(source, Engine.DOTALL);
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? error.message : String(error));
  }
}
