/** Lets so many run at the same time; the others wait in line. */
export interface Slots {
  /** @throws the signal's reason where it aborts while waiting. */
  use<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value>;
}

export function slotsOf(most: number): Slots {
  let free = most;
  const line: (() => void)[] = [];
  return {
    async use(signal, work) {
      signal.throwIfAborted();
      if (free > 0) free -= 1;
      else await turn(line, signal);
      try {
        return await work();
      } finally {
        const next = line.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}

function turn(line: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    const leave = () => {
      line.splice(line.indexOf(go), 1);
      reject(signal.reason);
    };
    line.push(go);
    signal.addEventListener("abort", leave, { once: true });
  });
}
