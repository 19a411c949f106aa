import type { Stats } from "node:fs";
import type { EntryType } from "@refmcp/boundary";
import { cursorsOf, fitCount } from "@refmcp/boundary/answer";
import * as z from "zod";
import { TopItems } from "./path-order.ts";

/** An entry of a listing; `key` is its sort key, descending, and 0 if sorted by path. */
export interface Keyed {
  readonly path: string;
  readonly type: EntryType;
  readonly key: number;
}

/** The key of an entry; a directory's own size is meaningless, so directories come last. */
export function keyOf(sort: string, type: EntryType, stat: Stats | undefined): number {
  if (sort === "mtime") return stat?.mtimeMs ?? 0;
  if (sort === "size") return type === "file" ? (stat?.size ?? 0) : -1;
  return 0;
}

const position = z.tuple([z.number(), z.string()]);
/** Characters of a page reserved for text other than its entries and cursor. */
const FRAME = 1_000;

/**
 * Collects a page of a sorted listing, which continues after its cursor.
 *
 * @param query everything that determines the listing, for the cursor.
 * @throws ToolError `invalid` for a cursor of another listing.
 */
export function keyedPage(
  tool: string,
  query: unknown,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  comparePath: (a: string, b: string) => number,
) {
  const compare = (a: Omit<Keyed, "type">, b: Omit<Keyed, "type">) =>
    b.key - a.key || comparePath(a.path, b.path);
  // Made when needed, since it hashes the query.
  const cursors = () => cursorsOf(tool, query, position);
  const [key = 0, path = ""] = (cursor === undefined ? undefined : cursors().decode(cursor)) ?? [];
  const after = cursor === undefined ? undefined : { key, path };
  const top = new TopItems<Keyed>(limit + 1, compare);
  const continued = (last: Omit<Keyed, "type">) =>
    `Continue with cursor="${cursors().encode([last.key, last.path])}".`;
  return {
    after,
    add(entry: Keyed): void {
      if (after === undefined || compare(entry, after) > 0) top.add(entry);
    },
    take: () => top.take().slice(0, limit),
    /**
     * As many lines of the entries as fit, and how to continue if there are more.
     *
     * @param resume where a search that ran out of time continues
     */
    cut(lines: readonly string[], budget: number, resume?: string) {
      const keyed = top.take();
      const part = lines.slice(0, fitCount(lines, budget - FRAME));
      const last = keyed[part.length - 1];
      if (last !== undefined && keyed.length > part.length)
        return { part, more: [continued(last)] };
      return { part, more: resume === undefined ? [] : [continued({ key: 0, path: resume })] };
    },
  };
}
