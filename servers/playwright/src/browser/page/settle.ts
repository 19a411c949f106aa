import { setTimeout as sleep } from "node:timers/promises";
import type { Frame } from "playwright";
import type { Deadline } from "../deadline.ts";
import { framesOf } from "../library.ts";
import { DATA_MS, isData, type PageEvents } from "./events.ts";

/** How long a page must be quiet, also after its load event, to count as settled, and the maximum wait for that. */
const SETTLED = { quietMs: 100, atMostMs: 3_000, isThorough: true };
/** The time between two looks. On a busy machine a look takes longer, and so does the quiet time, which counts them. */
const LOOK_MS = 33;
/** The share of the deadline that waiting may take, so that there is time for a verdict. */
const SHARE = 1 / 3;

interface QuietTime {
  readonly quietMs: number;
  readonly atMostMs: number;
  /** Also waits for timers that are due soon, and longer for the data that scripts have requested. */
  readonly isThorough?: boolean;
}

/**
 * Waits until a page is quiet. Each look is answered by a timer of the page, after those that were due before: a page
 * with a busy thread would otherwise look quiet while a timer that is about to throw is still waiting.
 */
export class Settling {
  readonly #events: PageEvents;

  constructor(events: PageEvents) {
    this.#events = events;
  }

  /**
   * Waits until no request was in progress and no document changed for a while; errors in that time are recorded.
   *
   * @returns false if the page was still active at the end.
   */
  async settled(
    deadline: Deadline,
    { quietMs, atMostMs, isThorough = false }: QuietTime = SETTLED,
  ): Promise<boolean> {
    const events = this.#events;
    const began = performance.now();
    const latest = began + SHARE * deadline.leftMs;
    let ends = began + atMostMs;
    let quietSince = began;
    let activity = -1;
    let dueEnds: number | undefined;
    let looks = 0;
    while (performance.now() < Math.min(ends, latest)) {
      const lookedAt = performance.now();
      const seen = await deadline.race(this.#look());
      const isActive = events.inFlight > 0 || events.activity !== activity || seen === undefined;
      const { dueMs = 0, sinceLoadMs = 0 } = seen ?? {};
      const isLoaded = !isThorough || sinceLoadMs >= quietMs;
      activity = events.activity;
      if (isActive) [quietSince, looks] = [performance.now(), 0];
      else {
        looks += 1;
        dueEnds ??= performance.now() + (isThorough ? dueMs : 0);
        const isQuiet = looks > quietMs / LOOK_MS && lookedAt - quietSince >= quietMs;
        if (isQuiet && isLoaded && lookedAt > dueEnds) return true;
      }
      await deadline.sleep(LOOK_MS);
      const tookMs = performance.now() - lookedAt;
      // The time of a busy thread is in addition, and that for data.
      const isAwaiting = isThorough && events.unanswered.some(({ request }) => isData(request));
      if (isAwaiting && performance.now() - began < DATA_MS + atMostMs) ends += tookMs;
      else ends += Math.max(0, tookMs - 2 * LOOK_MS);
    }
    if (isThorough)
      events.notes.add("the page never settled, so checks of absence may have missed something");
    return false;
  }

  /** What all documents say; undefined if one of them was replaced. */
  async #look(): Promise<Look | undefined> {
    const { page, tabs } = this.#events;
    const open = tabs.all.filter((tab) => !tab.isClosed());
    const frames = open.flatMap(framesOf);
    const look = (frame: Frame) => frame.evaluate<Look, string>(lookIn, CLOCK);
    try {
      const looks = await Promise.all(frames.map(look));
      // A reply on the session that reports events, so that all earlier ones have arrived.
      await Promise.all(frames.map((frame) => frame.title()));
      return {
        dueMs: Math.max(...looks.map(({ dueMs }) => dueMs)),
        sinceLoadMs: Math.min(...looks.map(({ sinceLoadMs }) => sinceLoadMs)),
      };
    } catch (error) {
      if (page.isClosed()) throw error;
      await sleep(LOOK_MS);
      return undefined;
    }
  }
}

/** Checks of absence wait for timers that are due within this time. */
const TIMER_MS = 2_000;
/** The property of a window with our clock; it can be neither listed nor replaced. */
const CLOCK = "__refmcpClock";

interface Look {
  /** The time until the last timer that is due soon. */
  readonly dueMs: number;
  readonly sinceLoadMs: number;
}

/** Runs in the page. Where scripts are disabled there is no clock, and nothing to wait for. */
function lookIn(name: string): Look | Promise<Look> {
  const clock: (() => Promise<Look>) | undefined = Reflect.get(window, name);
  return clock?.() ?? { dueMs: 0, sinceLoadMs: 1e9 };
}

/** A script that runs before those of each document, and notes when their timers are due. It changes nothing else. */
export const CLOCK_SCRIPT = `(${addClock})(${JSON.stringify(CLOCK)}, ${TIMER_MS})`;

function addClock(property: string, most: number): void {
  const due = new Map<unknown, number>();
  const now = performance.now.bind(performance);
  const entries = performance.getEntriesByType.bind(performance);
  // The page may replace what it finds, later.
  const [later, Native, scripting] = [setTimeout, Promise, matchMedia("(scripting: none)")];
  const proxy = (name: string, note: (result: unknown, args: unknown[]) => void) => {
    const apply = (target: object, self: unknown, args: unknown[]) => {
      const result = Reflect.apply(Object(target), self, args);
      note(result, args);
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
  const look = async (): Promise<Look> => {
    // In a sandboxed document no timer fires.
    if (scripting.matches) return { dueMs: 0, sinceLoadMs: 1e9 };
    await new Native((done) => later(done));
    for (const [id, at] of due) if (at < now()) due.delete(id);
    const loadedAt = Number(Reflect.get(entries("navigation")[0] ?? {}, "loadEventEnd") ?? 0);
    return {
      dueMs: Math.max(0, ...[...due.values()].map((at) => at - now())),
      sinceLoadMs: document.readyState === "complete" ? now() - loadedAt : 0,
    };
  };
  Object.defineProperty(window, property, { value: look });
}
