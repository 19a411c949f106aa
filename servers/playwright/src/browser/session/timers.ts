import type { Page } from "playwright";

/** Checks of absence wait for timers that are due within this time. */
const TIMER_MS = 2_000;
/** The property of a window with the time until the last of them; it can be neither listed nor replaced. */
const DUE = "__refmcpDue";

/** How long until the last timer of a page that is due soon; 0 without one. */
export async function timersDueMs(page: Page): Promise<number> {
  const read = (property: string) => Number(Reflect.get(window, property) ?? 0);
  const all = await Promise.all(
    page.frames().map((frame) => frame.evaluate(read, DUE).catch(() => 0)),
  );
  return Math.min(TIMER_MS, Math.max(0, ...all));
}

/** A script that runs before those of each document, and notes when their timers are due. It changes nothing else. */
export const RECORD_TIMERS = `(${recordTimers})(${JSON.stringify(DUE)}, ${TIMER_MS})`;

function recordTimers(property: string, most: number): void {
  const due = new Map<unknown, number>();
  const now = performance.now.bind(performance);
  const proxy = (name: string, note: (result: unknown, given: unknown[]) => void) => {
    const apply = (target: object, self: unknown, given: unknown[]) => {
      const result = Reflect.apply(Object(target), self, given);
      note(result, given);
      return result;
    };
    Reflect.set(window, name, new Proxy(Object(Reflect.get(window, name)), { apply }));
  };
  for (const name of ["setTimeout", "setInterval"])
    proxy(name, (id, [, delay]) => {
      const wait = Math.max(0, Number(delay) || 0);
      if (wait <= most && due.size < 1_000) due.set(id, now() + wait);
    });
  for (const name of ["clearTimeout", "clearInterval"]) proxy(name, (_, [id]) => due.delete(id));
  const get = () => {
    for (const [id, at] of due) if (at < now()) due.delete(id);
    return Math.max(0, ...[...due.values()].map((at) => at - now()));
  };
  Object.defineProperty(window, property, { get });
}
