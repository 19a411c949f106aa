import { ToolError } from "@refmcp/boundary/answer";
import { batches } from "../store/connection.ts";
import type { Reader, Store } from "../store/store.ts";
import type { Model } from "./embedding-model.ts";

/** The key under which a store records which model its vectors are from. */
const MODEL = "embedding_model";
const BATCH = 500;
const SCANNED_AT_ONCE = 2_000;
/** Observations that count as near. */
const MAX_NEAREST = 20;
/** A cosine counts as near if it is this many standard deviations above the mean; at most this many count. */
const [MIN_DEVIATIONS, MAX_DEVIATIONS] = [2, 6];
/** Assumed distribution of cosines before there are many: with few, outliers mean little. */
const ASSUMED = { count: 30, deviation: 0.2 } as const;

/**
 * Computes a vector for each observation without one; those of another model are dropped first.
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
    // A text without known tokens gets an empty vector, so that it is not retried.
    const vectors = rows.map(({ id, content }) => ({
      id,
      vector: model.embed(content) ?? new Int8Array(),
    }));
    await store.write((writer) => writer.insertVectors(vectors));
    done += rows.length;
    store.progress?.(done);
  }
}

/**
 * The observations whose meaning is nearest to that of a text, nearest first, and by how many standard deviations each is nearer
 * than most. Typical cosines depend on the model (near 0 or near 0.7), so only outliers are meaningful.
 */
export async function nearestFacts(
  reader: Reader,
  model: Model,
  text: string,
): Promise<ReadonlyMap<number, number>> {
  const wanted = model.embed(text);
  if (wanted === undefined) return new Map<number, number>();
  const cosines: [id: number, near: number][] = [];
  let [count, sum, squares] = [ASSUMED.count, 0, ASSUMED.count * ASSUMED.deviation ** 2];
  for await (const rows of batches(
    (after, limit) => reader.vectors(after, limit),
    SCANNED_AT_ONCE,
  )) {
    for (const { id, vector } of rows) {
      const near = cosine(wanted, vector);
      count += 1;
      sum += near;
      squares += near * near;
      if (near > 0) cosines.push([id, near]);
    }
  }
  const mean = sum / count;
  const deviation = Math.sqrt(squares / count - mean ** 2);
  const standing = cosines.map(
    ([id, near]) => [id, Math.min((near - mean) / deviation, MAX_DEVIATIONS)] as const,
  );
  const order = standing
    .filter(([, by]) => by >= MIN_DEVIATIONS)
    .sort(([a, x], [b, y]) => y - x || a - b);
  return new Map(order.slice(0, MAX_NEAREST));
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
