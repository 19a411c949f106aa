import { cursorsOf, fitting } from "@refmcp/core/answer";
import * as z from "zod";
import type { ChangeContext } from "../change/change-context.ts";
import type { Change } from "./change-record.ts";

/** Characters of an answer beside the changes. */
const PAGE_CHARS = 300;

export interface ListChanges {
  /** Only changes at or below this path. */
  readonly path?: string | undefined;
  readonly limit: number;
  /** Characters of the answer at most; fewer changes are given where they take more. */
  readonly maxChars: number;
  readonly cursor?: string | undefined;
}

export interface ListedChange {
  readonly change: Change;
  /** The change that took it back, if any did. */
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
  { guard, journal }: ChangeContext,
  range: ListChanges,
): Promise<ChangePage> {
  const below = range.path === undefined ? undefined : await guard.resolve(range.path);
  const cursors = cursorsOf("list_changes", { path: below }, z.string());
  const found = await journal.list({ before: cursors.decode(range.cursor), below, limit: range.limit + 1 });
  const undone = await journal.undone();
  const page = found.slice(0, Math.min(range.limit, fitting(found, range.maxChars - PAGE_CHARS)));
  const last = page.at(-1);
  return {
    changes: page.map((change) => ({ change, undoneBy: undone.get(change.id) })),
    nextCursor: last === undefined || found.length === page.length ? undefined : cursors.encode(last.id),
  };
}
