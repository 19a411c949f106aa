import { ToolError } from "@refmcp/core/answer";
import type { Reader, Store } from "../store.ts";
import type { Model } from "./model.ts";

/** The key under which a store remembers whose vectors it has. */
const MODEL = "embedding_model";
const BATCH = 500;
const SCANNED_AT_ONCE = 2_000;
/** Entities that meaning alone may bring into an answer. */
const MAX_NEAREST = 10;
/** The least cosine of two texts that count as near. */
const MIN_COSINE = 0.4;

/**
 * Gives each observation that has none yet its vector; those of another model are dropped first.
 *
 * @returns whether there are vectors to search: a memory that cannot be written to may have none.
 */
export async function embedMissing(store: Store, model: Model): Promise<boolean> {
  try {
    await embed(store, model);
  } catch (error) {
    if (!(error instanceof ToolError) || error.kind !== "denied") throw error;
  }
  return (await store.read((reader) => reader.meta(MODEL))) === model.hash;
}

async function embed(store: Store, model: Model): Promise<void> {
  if ((await store.read((reader) => reader.meta(MODEL))) !== model.hash)
    await store.write(async (writer) => {
      await writer.dropVectors();
      await writer.setMeta(MODEL, model.hash);
    });
  for (let done = 0; ; ) {
    const rows = await store.read((reader) => reader.withoutVector(BATCH));
    if (rows.length === 0) return;
    // A text without known tokens gets an empty vector, so that it is not tried again.
    const vectors = rows.map(({ id, content }) => ({ id, vector: model.embed(content) ?? new Int8Array() }));
    await store.write((writer) => writer.insertVectors(vectors));
    done += rows.length;
    store.progress?.(done);
  }
}

/** The entities with an observation whose meaning is nearest to that of a text, nearest first. */
export async function nearestEntities(reader: Reader, model: Model, text: string): Promise<number[]> {
  const wanted = model.embed(text);
  if (wanted === undefined) return [];
  const best = new Map<number, number>();
  for (let after = 0; ; ) {
    const rows = await reader.vectors(after, SCANNED_AT_ONCE);
    const last = rows.at(-1);
    if (last === undefined) break;
    for (const { entityId, vector } of rows) {
      const near = cosine(wanted, vector);
      if (near >= MIN_COSINE && near > (best.get(entityId) ?? 0)) best.set(entityId, near);
    }
    after = last.id;
  }
  const order = [...best].sort(([a, x], [b, y]) => y - x || a - b);
  return order.slice(0, MAX_NEAREST).map(([id]) => id);
}

function cosine(left: Int8Array, right: Int8Array): number {
  let [product, ofLeft, ofRight] = [0, 0, 0];
  for (let at = 0; at < left.length; at++) {
    const [a, b] = [left[at] ?? 0, right[at] ?? 0];
    product += a * b;
    ofLeft += a * a;
    ofRight += b * b;
  }
  return product === 0 ? 0 : product / Math.sqrt(ofLeft * ofRight);
}
