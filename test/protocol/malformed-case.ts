import type { Fields, Revision } from "./revisions.ts";

/** The expected response to a line. */
export type Outcome =
  /** Errors that name no request. */
  | { readonly kind: "refused"; readonly code: number; readonly count: number }
  /** Exactly one answer with the id of this message: an error with this code, a result, or any that is valid. */
  | {
      readonly kind: "answered";
      readonly message: Fields;
      readonly code: number | typeof RESULT | undefined;
    }
  | { readonly kind: "silent" };

export interface Case {
  readonly name: string;
  readonly line: string | Uint8Array;
  readonly outcome: Outcome;
}

/** Makes a request of the revision with a fresh id. */
export type Writer = (method: string, params?: Fields, meta?: Fields) => Fields;

export type Group = (write: Writer, revision: Revision) => Case[];

/** A line that is refused without an id. */
export function refused(name: string, line: string | Uint8Array, code: number, count = 1): Case {
  return { name, line, outcome: { kind: "refused", code, count } };
}

export function silent(name: string, line: string | Uint8Array): Case {
  return { name, line, outcome: { kind: "silent" } };
}

/** A message with a usable id. @param code of the error; if omitted, any valid answer. */
export function answered(name: string, message: Fields, code?: number | typeof RESULT): Case {
  return answeredLine(name, JSON.stringify(message), message, code);
}

/** Like `answered`, for a line that is not just the message as JSON. */
export function answeredLine(
  name: string,
  line: string,
  message: Fields,
  code?: number | typeof RESULT,
): Case {
  return { name, line, outcome: { kind: "answered", message, code } };
}

/** An array in an array in an array … as JSON. */
export function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

/** A message with a text instead of the value `"@"`. */
export function withText(message: Fields, text: string): string {
  return JSON.stringify(message).replace('"@"', () => text);
}

/** Instead of an error code: the answer is a result. */
export const RESULT = "result";
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const UNSUPPORTED_VERSION = -32022;
