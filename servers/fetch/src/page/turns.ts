/** Lets at most some pieces of work of one key go on at the same time; the others wait in order. */
export class Turns {
  readonly #most: number;
  readonly #busy = new Map<string, { count: number; readonly waiting: (() => void)[] }>();

  constructor(most: number) {
    this.#most = most;
  }

  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const place = this.#busy.get(key) ?? { count: 0, waiting: [] };
    this.#busy.set(key, place);
    if (place.count < this.#most) place.count += 1;
    else await new Promise<void>((resolve) => place.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = place.waiting.shift();
      // The place is handed over, or given back.
      if (next !== undefined) next();
      else {
        place.count -= 1;
        if (place.count === 0) this.#busy.delete(key);
      }
    }
  }
}
