import type { Store, Writer } from "../store/store.ts";
import type { ChangeFacts } from "../types.ts";

/**
 * Writes one change, or nothing if `work` throws.
 *
 * @returns what `work` returns, with the change's id if anything changed.
 */
export function change<Value extends object>(
  store: Store,
  facts: ChangeFacts,
  work: (writer: Writer) => Promise<Value>,
): Promise<Value & { change_id: number | undefined }> {
  return store.write(async (writer) => {
    writer.startChange(facts);
    const value = await work(writer);
    return { ...value, change_id: await writer.finishChange() };
  });
}

/** A list in an answer, which has no empty ones. */
export function unlessEmpty<Item>(list: Item[]): Item[] | undefined {
  return list.length === 0 ? undefined : list;
}

const DAY_MS = 86_400_000;
const PRUNED_AT_ONCE = 200;

/** Removes changes older than some days from the journal, and erases what they deleted. */
export async function prune(store: Store, days: number): Promise<void> {
  const before = Date.now() - days * DAY_MS;
  while ((await store.write((writer) => writer.forgetChanges(before, PRUNED_AT_ONCE))) === PRUNED_AT_ONCE);
}
