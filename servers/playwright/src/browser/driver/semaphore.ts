import { ownerOf, TurnQueue } from "@refmcp/boundary/turns";

/** Limits what runs at the same time, by weight; the others wait, and their owners take turns. */
export interface Semaphore {
  /** @throws the signal's reason if it aborts while waiting. */
  use<Value>(signal: AbortSignal, weight: number, work: () => Promise<Value>): Promise<Value>;
}

export function semaphoreOf(max: number): Semaphore {
  let free = max;
  const line = new TurnQueue<{ readonly weight: number; go(): void }>();
  const advance = () => {
    for (let { first } = line; first !== undefined && first.weight <= free; { first } = line) {
      line.take();
      free -= first.weight;
      first.go();
    }
  };
  const turn = (signal: AbortSignal, weight: number) =>
    new Promise<void>((resolve, reject) => {
      const owner = ownerOf(signal);
      const leave = () => {
        line.delete(place, owner);
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
      line.add(place, owner);
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
