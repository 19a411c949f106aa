import type { Document, DocumentPart } from "./document.ts";

/** Which parts of a document: from 1, both included. */
export interface PartRange {
  readonly from: number;
  readonly to: number;
}

/** The part of a document that was requested does not exist. The message consists of whole sentences. */
export class SelectionError extends Error {}

const MAX_NAMES = 20;

/** `3` or `3-5`; undefined for anything else. */
export function partRange(selection: string | undefined): PartRange | undefined {
  const [, from, to = from] =
    /^(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?$/.exec(selection?.trim() ?? "") ?? [];
  return from === undefined ? undefined : { from: Number(from), to: Number(to) };
}

/**
 * Selects parts of a document, by number (`3`, `3-5`) or by name.
 *
 * @returns the selected parts with their numbers.
 * @throws SelectionError
 */
export function selected(
  { parts, unit = "part" }: Document,
  selection: string | undefined,
): { part: DocumentPart; number: number }[] {
  const numbered = parts.map((part, index) => ({ part, number: index + 1 }));
  if (selection === undefined) return numbered;
  const shown = JSON.stringify(selection);
  const named = numbered.filter(({ part }) => part.name === selection);
  if (named.length > 0 && unit !== "page") return named;
  const range = partRange(selection);
  if (range !== undefined) {
    const found = numbered.slice(Math.max(0, range.from - 1), range.to);
    if (found.length > 0) return found;
    throw new SelectionError(`There is no ${unit} ${shown}: the document has ${parts.length}.`);
  }
  throw new SelectionError(`There is no ${unit} ${shown}. ${known(numbered, unit)}`);
}

function known(parts: readonly { part: DocumentPart; number: number }[], unit: string): string {
  const names = parts.filter(({ part }) => part.name !== "").slice(0, MAX_NAMES);
  if (unit === "page" || names.length === 0)
    return `Give numbers from 1 to ${parts.length}, such as 2 or 2-4.`;
  const list = names.map(({ part }) => JSON.stringify(part.name)).join(", ");
  return `Its ${unit}s: ${list}${parts.length > names.length ? ", …" : ""}.`;
}
