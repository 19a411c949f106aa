import { cursorsOf, fitting, grouped, oneLine, sized } from "@refmcp/boundary/answer";
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

interface ListedChange {
  readonly change: Change;
  readonly undoneBy: string | undefined;
}

/**
 * The recorded changes, newest first.
 *
 * @throws ToolError `unavailable` if nothing is kept, `invalid` for a cursor of another list
 */
export async function listChanges(
  { guard, store }: Files,
  { path, limit, maxChars, cursor }: ListChanges,
) {
  const below = path === undefined ? undefined : await guard.resolve(path);
  const cursors = cursorsOf("list_changes", { path: below }, z.string());
  const page = await store.list({ before: cursors.decode(cursor), below, limit: limit + 1 });
  const undone = await store.undone();
  const all = page.map((change): ListedChange => ({ change, undoneBy: undone.get(change.id) }));
  const fits = fitting(all, maxChars - PAGE_CHARS, (listed) => changeLine(listed).length);
  const changes = all.slice(0, Math.min(limit, fits));
  const last = changes.at(-1)?.change.id;
  const isLast = last === undefined || all.length === changes.length;
  return { changes, nextCursor: isLast ? undefined : cursors.encode(last) };
}

/**
 * One change per line, beginning with its id, followed by its diff if it fits. The last line, in square brackets, is
 * the server's own; lines of a diff begin with one of ` +-@\`.
 *
 * @param diffOf the diff of a change, at most `maxChars` characters; undefined for none
 */
export async function changesAnswer(
  { changes, nextCursor }: Awaited<ReturnType<typeof listChanges>>,
  maxChars: number,
  diffOf: (change: Change, maxChars: number) => Promise<string | undefined>,
): Promise<string> {
  const lines = changes.map(changeLine);
  let remaining = maxChars - PAGE_CHARS - lines.reduce((sum, line) => sum + line.length, 0);
  let hidden = 0;
  let text = "";
  for (const [index, { change }] of changes.entries()) {
    const diff = remaining > 0 ? ((await diffOf(change, Math.floor(remaining / 2))) ?? "") : "";
    const shown = diff.length > remaining ? "" : diff;
    if (shown !== diff) hidden += 1;
    remaining -= shown.length;
    text += `${lines[index]}${shown}`;
  }
  const facts = [
    changes.length === 0 ? "No changes are recorded." : `${counted(changes.length, "change")}.`,
    ...(hidden === 0 ? [] : ["Some diffs did not fit; set path or a smaller limit."]),
    ...(nextCursor === undefined ? [] : [`Continue with cursor="${nextCursor}".`]),
  ];
  return `${text}[${facts.join(" ")}]`;
}

/**
 * `0mwrwtp3p-adc3d4 2026-01-01T00:00:00Z edit /a/b (3 B → 5 B, undone by 0mw…)`, and for many files `… move /a/b → /c/b
 * and 299 more (undone by 0mw…)`.
 */
function changeLine({ change, undoneBy }: ListedChange): string {
  const { id, time, action, path, destination, undoes, interrupted } = change;
  const { first, more } = summaryOf(change);
  const sizes = more > 0 ? [] : [first?.size_before, first?.size_after];
  const shown = sizes.map((size) => (size === undefined ? "nothing" : sized(size))).join(" → ");
  const facts = [
    ...(sizes.every((size) => size === undefined) ? [] : [shown]),
    ...(interrupted ? ["interrupted"] : []),
    ...(undoes === undefined ? [] : [`undoes ${undoes}`]),
    ...(undoneBy === undefined ? [] : [`undone by ${undoneBy}`]),
  ];
  const to = destination === undefined ? "" : ` → ${oneLine(destination)}`;
  const others = more > 0 ? ` and ${grouped(more)} more` : "";
  const details = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  return `${id} ${time} ${action} ${oneLine(path)}${to}${others}${details}\n`;
}

/** The first file of a change, and how many more it has. */
export function summaryOf({ steps }: Change) {
  const isDirectory = (step: RecordedStep) =>
    step.kind === "put" && step.after.type === "empty directory";
  const files = steps.filter((step) => !isDirectory(step));
  const [first] = files;
  return { first, more: Math.max(0, (files.length || steps.length) - 1) };
}
