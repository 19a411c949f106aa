/** Runs work of the same key one after the other, in the order of the calls; other keys do not wait. */
export function keyedQueue(): <Value>(key: string, work: () => Promise<Value>) => Promise<Value> {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = tails.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const tail = mine.catch(() => undefined);
    tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
