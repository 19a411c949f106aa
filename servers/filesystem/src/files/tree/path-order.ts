import type { Stats } from "node:fs";
import { cursorsOf, fitting } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { EntryType } from "./open-below.ts";

/** Compares by UTF-16 code units, which gives the same order in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const SLASH = 0x2f;

/**
 * Compares two paths with `/` between components in the order of a walk: component by component, so `a/b` comes before
 * `a-b`.
 */
export function comparePaths(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    if (left === SLASH) return -1;
    if (right === SLASH) return 1;
    return left - right;
  }
  return a.length - b.length;
}

/**
 * Collects the first `count` of many items in an order, without keeping or sorting them all: memory is bounded by
 * `count`, time is linear in the number of items.
 */
export class TopItems<Item> {
  readonly #count: number;
  readonly #compare: (a: Item, b: Item) => number;
  #items: Item[] = [];
  #worst: Item | undefined;

  constructor(count: number, compare: (a: Item, b: Item) => number) {
    this.#count = count;
    this.#compare = compare;
  }

  add(item: Item): void {
    if (this.#worst !== undefined && this.#compare(item, this.#worst) >= 0) return;
    this.#items.push(item);
    if (this.#items.length >= 2 * this.#count + 16) this.#cut();
  }

  take(): Item[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items.sort(this.#compare);
    if (this.#items.length > this.#count) this.#items.length = this.#count;
    if (this.#items.length === this.#count) this.#worst = this.#items.at(-1);
  }
}

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
/** Characters of an answer reserved for text other than its entries and cursor. */
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
  const cursors = cursorsOf(tool, query, position);
  const decoded = cursors.decode(cursor);
  const after = decoded && { key: decoded[0], path: decoded[1] };
  const top = new TopItems<Keyed>(limit + 1, compare);
  return {
    after,
    add(entry: Keyed): void {
      if (after === undefined || compare(entry, after) > 0) top.add(entry);
    },
    take: () => top.take().slice(0, limit),
    /** As many of the described entries as fit, and the cursor of the next page, if there is one. */
    cut<Described>(described: readonly Described[], budget: number) {
      const all = top.take();
      const shown = described.slice(0, fitting(described, budget - FRAME));
      const last = all[shown.length - 1];
      const isLast = last === undefined || all.length <= shown.length;
      return { shown, next: isLast ? undefined : cursors.encode([last.key, last.path]) };
    },
    cursorAt: (path: string) => cursors.encode([0, path]),
  };
}
