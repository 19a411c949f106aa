import type { ChangeItem, ItemOp, Kind } from "../types.ts";

/** Kinds and operations are stored as indexes into these lists, so entries are only ever appended. */
export const KINDS: readonly Kind[] = ["entity", "observation", "relation"];
const OPS: readonly ItemOp[] = [
  "add",
  "remove",
  "restore",
  "rename",
  "retype",
  "move",
  "supersede",
  "revive",
];

/** A change's items as stored. They are JSON, because thousands of rows would dominate the cost of a large write. */
type StoredItem = [
  kind: number,
  op: number,
  rowId: number,
  entityId: number,
  otherId?: number | null,
  before?: string | null,
  after?: string | null,
];

/** The items of a change as the journal stores them. */
export function writeItems(items: readonly ChangeItem[]): string {
  const stored = items.map(({ kind, op, rowId, entityId, otherId, before, after }): StoredItem => {
    const item: StoredItem = [
      KINDS.indexOf(kind),
      OPS.indexOf(op),
      rowId,
      entityId,
      otherId,
      before,
      after,
    ];
    while (item.at(-1) === null) item.pop();
    return item;
  });
  return JSON.stringify(stored);
}

/** The items of a change from the text in the journal. */
export function readItems(text: string): ChangeItem[] {
  const stored: StoredItem[] = JSON.parse(text);
  return stored.map(([kind, op, rowId, entityId, otherId = null, before = null, after = null]) => ({
    kind: KINDS[kind] ?? "entity",
    op: OPS[op] ?? "add",
    rowId,
    entityId,
    otherId,
    before,
    after,
  }));
}
