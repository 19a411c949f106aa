import { shareAcrossBundles } from "./shared-class.ts";

/**
 * What went wrong, from the caller's perspective.
 *
 * - `invalid`: the input is not valid.
 * - `not_found`: the named thing does not exist.
 * - `denied`: a boundary, an option or the user refuses it.
 * - `conflict`: the state is not what the caller expected; read again, then retry.
 * - `unavailable`: something the server needs is missing or does not respond.
 * - `timeout`: the time limit ran out.
 * - `too_large`: a size limit was exceeded.
 * - `cancelled`: the caller cancelled the request.
 */
export type ErrorKind =
  | "invalid"
  | "not_found"
  | "denied"
  | "conflict"
  | "unavailable"
  | "timeout"
  | "too_large"
  | "cancelled";

export interface ToolErrorOptions {
  /** What to do next, naming the tool or the option that helps. A complete sentence. */
  hint?: string | undefined;
  /** A stable code specific to the server, for example git's `not_a_repository`. */
  code?: string | undefined;
  /** Facts for the answer's `structuredContent`; must satisfy the tool's output schema if it has one. */
  data?: Record<string, unknown> | undefined;
  /** The cause. It is logged to stderr and never shown to the caller. */
  cause?: unknown;
}

/**
 * An error for the agent to read. Anything else that is thrown is an internal error; the agent only sees an
 * id.
 *
 * The message says what was wrong (with the value) and what is allowed; the hint says what to do next.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly kind: ErrorKind;
  readonly hint: string | undefined;
  readonly code: string | undefined;
  readonly data: Record<string, unknown> | undefined;

  constructor(kind: ErrorKind, message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.hint = options.hint;
    this.code = options.code;
    this.data = options.data;
  }
}

shareAcrossBundles(ToolError, "ToolError");

/** The code of an error of the operating system or of Node.js (`ENOENT`), or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The message of any thrown value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** ` Did you mean x?`, or "" if no candidate is similar. @param prefix put before the candidate */
export function suggestion(word: string, candidates: Iterable<string>, prefix = ""): string {
  const [near] = nearest(word, candidates, 1);
  return near === undefined ? "" : ` Did you mean ${prefix}${near}?`;
}

/** The error codes of a package: each with its kind, and what to do next and the message where they are always the same. */
export type ErrorTable<Code extends string> = Readonly<
  Record<Code, readonly [kind: ErrorKind, hint?: string, message?: string]>
>;

/**
 * Keeps all error codes of a package in one table.
 *
 * @returns creates the error of a code; a hint in its options replaces the one in the table.
 */
export function errorsOf<Code extends string>(table: ErrorTable<Code>) {
  const failure = (
    code: Code,
    message: string,
    options: Omit<ToolErrorOptions, "code"> = {},
  ): ToolError => {
    const [kind, hint] = table[code];
    return new ToolError(kind, message, { hint, ...options, code });
  };
  return Object.assign(failure, { table });
}

/**
 * The candidates nearest to `word` by edit distance, best first, at most `max`. None is farther than a third of the
 * word's length (two letters at least, or one for a word of one or two letters), or much farther than the best.
 */
export function nearest(word: string, candidates: Iterable<string>, max = 3): string[] {
  const lowerWord = word.toLowerCase().slice(0, MAX_COMPARED_CHARS);
  const farthest = Math.max(lowerWord.length <= 2 ? 1 : 2, Math.floor(lowerWord.length / 3));
  const scores: { candidate: string; distance: number }[] = [];
  for (const candidate of candidates) {
    // The distance is at least the difference in length, so comparing lengths first keeps a long list cheap.
    if (Math.abs(candidate.length - lowerWord.length) > farthest) continue;
    const distance = editDistance(lowerWord, candidate.toLowerCase());
    if (distance <= farthest) scores.push({ candidate, distance });
  }
  scores.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  const best = scores[0]?.distance ?? 0;
  return scores
    .filter((entry) => entry.distance <= best + 1)
    .slice(0, max)
    .map((entry) => entry.candidate);
}

/** Names longer than this are not compared for typos. */
const MAX_COMPARED_CHARS = 256;

/** Levenshtein distance of two strings, in UTF-16 code units. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
