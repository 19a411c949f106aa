import { cursorsOf, digits, fitCount, oneLine, sizeOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import { counted } from "../errors.ts";
import type { Files } from "../files.ts";
import type { Change, RecordedStep } from "./record.ts";

/** Characters of a response reserved for text other than the changes. */
const PAGE_CHARS = 300;

interface ListChanges {
  readonly path?: string | undefined;
  readonly limit: number;
  /** Maximum characters of the answer, which limits the number of changes. */
  readonly maxChars: number;
  readonly cursor?: string | undefined;
}

/**
 * The recorded changes, newest first: one per line, beginning with its id. The last line, in square brackets, is the
 * server's own.
 *
 * @throws ToolError `unavailable` if nothing is kept, `invalid` for a cursor of another list
 */
export async function listChanges(
  { guard, store }: Files,
  { path, limit, maxChars, cursor }: ListChanges,
): Promise<string> {
  const below = path === undefined ? undefined : await guard.resolve(path);
  const cursors = cursorsOf("list_changes", { path: below }, z.string());
  const page = await store.list({ before: cursors.decode(cursor), below, limit: limit + 1 });
  const undone = await store.undone();
  const lines = page.map((change) => changeLine(change, undone.get(change.id)));
  const fits = fitCount(lines, maxChars - PAGE_CHARS, ({ length }) => length);
  const rows = lines.slice(0, Math.min(limit, fits));
  const last = page[rows.length - 1]?.id;
  const more =
    last === undefined || rows.length === lines.length
      ? ""
      : ` Continue with cursor="${cursors.encode(last)}".`;
  const count = rows.length === 0 ? "No changes are recorded" : counted(rows.length, "change");
  return `${rows.join("")}[${count}.${more}]`;
}

/**
 * `0mwrwtp3p-adc3d4 2026-01-01T00:00:00Z edit /a/b (3 B → 5 B, undone by 0mw…)`, and for many files `… move /a/b → /c/b
 * and 299 more (undone by 0mw…)`.
 */
function changeLine(change: Change, undoneBy: string | undefined): string {
  const { id, time, action, path, destination, undoes, interrupted, steps } = change;
  // Created directories, and what a move or copy replaced, are not counted.
  const isBeside = (step: RecordedStep) =>
    step.kind === "put" &&
    (step.after.type === "empty directory" ||
      (/^(?:move|copy)$/.test(action) && step.after.type === "nothing"));
  const files = steps.filter((step) => !isBeside(step));
  const more = Math.max(0, (files.length || steps.length) - 1);
  const sizes = more > 0 ? [] : [files[0]?.size_before, files[0]?.size_after];
  const sizeText = sizes.map((size) => (size === undefined ? "nothing" : sizeOf(size))).join(" → ");
  const facts = [
    ...(sizes.every((size) => size === undefined) ? [] : [sizeText]),
    ...(interrupted ? ["interrupted"] : []),
    ...(undoes === undefined ? [] : [`undoes ${undoes}`]),
    ...(undoneBy === undefined ? [] : [`undone by ${undoneBy}`]),
  ];
  const to = destination === undefined ? "" : ` → ${oneLine(destination)}`;
  const rest = more > 0 ? ` and ${digits(more)} more` : "";
  const details = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  return `${id} ${time} ${action} ${oneLine(path)}${to}${rest}${details}\n`;
}
