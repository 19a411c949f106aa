import type { RE2JS } from "re2js";

/** A regular expression that is matched in time linear in the text (RE2's guarantee), whatever the pattern. */
export interface LinearRegex {
  /** Whether it matches somewhere in `text`. */
  test(text: string): boolean;
  /** Where it first matches in `text`, in UTF-16 code units. */
  find(text: string): { start: number; end: number } | undefined;
}

export interface LinearFlags {
  /** `.` matches a line end too. */
  readonly dotAll?: boolean;
  /** `^` and `$` match at every line's begin and end. */
  readonly multiline?: boolean;
  readonly ignoreCase?: boolean;
}

let library: Promise<typeof RE2JS> | undefined;

/**
 * Compiles an expression of RE2's syntax. The engine is loaded on first use (about 6 ms).
 *
 * @throws SyntaxError with RE2's reason for an expression that it does not take.
 */
export async function linearRegex(source: string, flags: LinearFlags = {}): Promise<LinearRegex> {
  library ??= import("re2js").then((module) => module.RE2JS);
  const Engine = await library;
  let bits = 0;
  if (flags.dotAll) bits |= Engine.DOTALL;
  if (flags.multiline) bits |= Engine.MULTILINE;
  if (flags.ignoreCase) bits |= Engine.CASE_INSENSITIVE;
  let regex: RE2JS;
  try {
    regex = Engine.compile(source, bits);
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? error.message : String(error));
  }
  return {
    test: (text) => regex.test(text),
    find(text) {
      const matcher = regex.matcher(text);
      return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined;
    },
  };
}
