import type { PathGuard } from "@refmcp/boundary";
import { cursorsOf, fitting, oneLine, sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import { counted } from "../wording.ts";
import type { Change } from "./change-record.ts";
import type { Journal } from "./journal.ts";

/** Characters of a response reserved for text other than the changes. */
const PAGE_CHARS = 300;

export interface ListChanges {
  /** Only changes at or below this path. */
  readonly path?: string | undefined;
  readonly limit: number;
  /** Maximum characters of the answer, which limits the number of changes. */
  readonly maxChars: number;
  readonly cursor?: string | undefined;
}

export interface ListedChange {
  readonly change: Change;
  /** The change that undid it, if any. */
  readonly undoneBy: string | undefined;
}

export interface ChangePage {
  readonly changes: readonly ListedChange[];
  readonly nextCursor: string | undefined;
}

/**
 * The journaled changes inside the bound, newest first.
 *
 * @throws ToolError `unavailable` without a journal, `invalid` for a cursor of another list.
 */
export async function listChanges(
  { guard, journal }: { guard: PathGuard; journal: Journal },
  range: ListChanges,
): Promise<ChangePage> {
  const below = range.path === undefined ? undefined : await guard.resolve(range.path);
  const cursors = cursorsOf("list_changes", { path: below }, z.string());
  const found = await journal.list({ before: cursors.decode(range.cursor), below, limit: range.limit + 1 });
  const undone = await journal.undone();
  const all = found.map((change) => ({ change, undoneBy: undone.get(change.id) }));
  const fits = fitting(all, range.maxChars - PAGE_CHARS, (listed) => changeLine(listed).length);
  const changes = all.slice(0, Math.min(range.limit, fits));
  const last = changes.at(-1)?.change.id;
  return {
    changes,
    nextCursor: last === undefined || all.length === changes.length ? undefined : cursors.encode(last),
  };
}

/**
 * One change per line, beginning with its id, followed by its diff if it fits. The last line, in square brackets, is
 * the server's own; lines of a diff begin with one of ` +-@\`.
 *
 * @param diffOf the diff of a change, at most `maxChars` characters; undefined for none.
 */
export async function changesAnswer(
  { changes, nextCursor }: ChangePage,
  maxChars: number,
  diffOf: (change: Change, maxChars: number) => Promise<string | undefined>,
): Promise<string> {
  const lines = changes.map(changeLine);
  let remaining = maxChars - PAGE_CHARS - lines.reduce((sum, line) => sum + line.length, 0);
  let hidden = 0;
  let text = "";
  for (const [index, { change }] of changes.entries()) {
    const diff = remaining > 0 ? await diffOf(change, Math.floor(remaining / 2)) : undefined;
    if (diff !== undefined && diff.length > remaining) hidden += 1;
    const shown = diff === undefined || diff.length > remaining ? "" : diff;
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

/** `0mwrwtp3p-adc3d4 2026-01-01T00:00:00Z edit /a/b (3 B → 5 B, undone by 0mw…)` */
function changeLine({ change, undoneBy }: ListedChange): string {
  const {
    id,
    time,
    action,
    path,
    destination,
    undoes,
    size_before: before,
    size_after: after,
    final,
  } = change;
  const sizes = [before, after].map((size) => (size === undefined ? "nothing" : sized(size)));
  const facts = [
    ...(before === undefined && after === undefined ? [] : [sizes.join(" → ")]),
    ...(undoes === undefined ? [] : [`undoes ${undoes}`]),
    ...(undoneBy === undefined ? [] : [`undone by ${undoneBy}`]),
    ...(final === undefined ? [] : [`cannot be undone: ${final}`]),
  ];
  const to = destination === undefined ? "" : ` → ${oneLine(destination)}`;
  return `${id} ${time} ${action} ${oneLine(path)}${to}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}\n`;
}
