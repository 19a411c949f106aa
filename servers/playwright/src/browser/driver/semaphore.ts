/** Limits what runs at the same time, by weight; the others wait in order. */
export interface Semaphore {
  /** @throws the signal's reason if it aborts while waiting. */
  use<Value>(signal: AbortSignal, weight: number, work: () => Promise<Value>): Promise<Value>;
}

export function semaphoreOf(max: number): Semaphore {
  let free = max;
  const line = new Set<{ readonly weight: number; go(): void }>();
  const advance = () => {
    for (const first of line) {
      if (first.weight > free) return;
      line.delete(first);
      free -= first.weight;
      first.go();
    }
  };
  const turn = (signal: AbortSignal, weight: number) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        line.delete(place);
        reject(signal.reason);
        advance();
      };
      const place = {
        weight,
        go() {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      line.add(place);
      advance();
    });
  return {
    async use(signal, weight, work) {
      signal.throwIfAborted();
      await turn(signal, weight);
      try {
        return await work();
      } finally {
        free += weight;
        advance();
      }
    },
  };
}
