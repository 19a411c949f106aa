import { setTimeout as sleep } from "node:timers/promises";
import type { PageEvents } from "./page-events.ts";

/** How long a page must be still to count as dormant, the first look, and the time between two. */
const STILL_MS = 500;
const FIRST_MS = 200;
const LOOK_MS = 100;
/** The property of a window that says whether its document is still working; it can be neither listed nor replaced. */
const WORKING = "__refmcpWorking";

/**
 * Finds out when a page is dormant: no timer is set, no request is open, nothing moves, and no worker, socket or other
 * tab can wake it. Then waiting for anything is pointless. A page counts as working wherever that is not certain.
 */
export class Dormancy {
  readonly #events: PageEvents;
  readonly #isAlone: () => boolean;
  #looking: Promise<boolean> | undefined;
  #waiting = 0;

  /** @param isAlone whether only timers and requests can wake the documents. */
  constructor(events: PageEvents, isAlone: () => boolean) {
    this.#events = events;
    this.#isAlone = isAlone;
  }

  /** Waits until the page is dormant; false if `stop` aborts first. */
  async until(stop: AbortSignal): Promise<boolean> {
    if (stop.aborted) return false;
    const stopped = new Promise<boolean>((resolve) =>
      stop.addEventListener("abort", () => resolve(false), { once: true }),
    );
    this.#waiting += 1;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    try {
      return await Promise.race([this.#looking, stopped]);
    } finally {
      this.#waiting -= 1;
    }
  }

  /** One watch for all that wait; false once nobody does. */
  async #look(): Promise<boolean> {
    const events = this.#events;
    let activity = -1;
    let since = Number.POSITIVE_INFINITY;
    await sleep(FIRST_MS);
    while (this.#waiting > 0) {
      const isStill = await this.#isStill().catch(() => false);
      const now = performance.now();
      if (!isStill) since = Number.POSITIVE_INFINITY;
      else if (events.activity !== activity || since > now) since = now;
      else if (now - since >= STILL_MS) return true;
      activity = events.activity;
      await sleep(LOOK_MS);
    }
    return false;
  }

  async #isStill(): Promise<boolean> {
    const { page, isListening, hasOtherClock, place } = this.#events;
    if (isListening || hasOtherClock || !this.#isAlone() || page.context().pages().length > 1)
      return false;
    if (place.response?.headers()["refresh"] !== undefined) return false;
    const working = await Promise.all(
      page.frames().map((frame) => frame.evaluate(isWorking, WORKING)),
    );
    return !working.includes(true);
  }
}

/** Runs in a document: whether it is still working. One without scripts is not. */
function isWorking(property: string): boolean {
  const working: unknown = Reflect.get(window, property);
  return typeof working === "function"
    ? working() === true
    : !matchMedia("(scripting: none)").matches;
}

/**
 * A script that runs before those of each document. It notes until when the timers that they set are pending, and
 * changes nothing else: each function is still the browser's own, behind a proxy.
 */
export const RECORD_TIMERS = `(${recordTimers})(${JSON.stringify(WORKING)})`;

function recordTimers(property: string): void {
  const pending = new Map<unknown, number>();
  const now = performance.now.bind(performance);
  // What a timer starts is seen as activity soon after it.
  const SLACK_MS = 50;
  const FRAME_MS = 200;
  const isDue = (at: number) => at + SLACK_MS > now();
  const proxy = (on: object, name: string, note: (result: unknown, given: unknown[]) => void) => {
    const native: unknown = Reflect.get(on, name);
    if (typeof native !== "function") return;
    const apply = (target: unknown, self: unknown, given: unknown[]) => {
      const result = Reflect.apply(Object(target), self, given);
      note(result, given);
      return result;
    };
    Reflect.set(on, name, new Proxy(native, { apply }));
  };
  const add = (key: unknown, at: number) => {
    if (pending.size > 1_000)
      for (const [one, due] of pending) if (!isDue(due)) pending.delete(one);
    pending.set(key, at);
  };
  const after = (delay: unknown) => now() + Math.max(0, Number(delay) || 0);
  proxy(window, "setTimeout", (id, [, delay]) => add(id, after(delay)));
  proxy(window, "setInterval", (id) => add(id, Number.POSITIVE_INFINITY));
  for (const name of ["clearTimeout", "clearInterval"])
    proxy(window, name, (_, [id]) => pending.delete(Number(id)));
  proxy(window, "requestAnimationFrame", (id) => add(`frame ${id}`, now() + FRAME_MS));
  proxy(window, "cancelAnimationFrame", (_, [id]) => pending.delete(`frame ${id}`));
  proxy(AbortSignal, "timeout", (signal, [delay]) => add(signal, after(delay)));
  const scheduler: unknown = Reflect.get(window, "scheduler");
  if (scheduler instanceof Object)
    proxy(scheduler, "postTask", (task, [, options]) => add(task, after(Object(options).delay)));
  const MOVING =
    "animate, animateMotion, animateTransform, set, marquee, meta[http-equiv=refresh i]";
  const value = () =>
    document.readyState !== "complete" ||
    [...pending.values()].some(isDue) ||
    document.getAnimations().some(({ playState }) => playState === "running") ||
    document.querySelector(MOVING) !== null ||
    [...document.querySelectorAll("video, audio")].some(
      (one) => Reflect.get(one, "paused") === false,
    );
  Object.defineProperty(window, property, { value });
}
