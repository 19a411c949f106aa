import type { Json } from "../../hosts/facts.ts";

/** Why a file cannot be read or changed, as one sentence for the user. */
export class SetupProblem extends Error {}

/** The position of a syntax error, in a message for the user. */
export function syntaxProblem(
  language: string,
  what: string,
  line: number,
  column: number,
): SetupProblem {
  return new SetupProblem(`is not valid ${language}: line ${line}, column ${column}: ${what}.`);
}

/** A key of an object or the index of a list item. */
export type Key = string | number;

/** Edits the text of one language, and leaves the rest of the text as the user wrote it. */
export interface TextFormat {
  /** @throws {SetupProblem} with the line of the mistake. */
  parse(text: string): unknown;
  /** Replaces the value at `keys`, which exists. */
  replace(text: string, keys: readonly Key[], value: Json): string;
  /** Adds the value at `keys`: a new key of an existing object, or the end of an existing list. */
  insert(text: string, keys: readonly Key[], value: Json): string;
  /** Removes the value at `keys`, which exists. */
  remove(text: string, keys: readonly Key[]): string;
}

export function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
