import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContext, CDPSession, Frame, Page } from "playwright";
import type { Deadline } from "./deadline.ts";
import { DATA_MS, type PageEvents } from "./page-events.ts";
import { timersDueMs } from "./timers.ts";

/** How long a page must be quiet (also after its load event) to count as settled, and the maximum wait for that. */
const SETTLED = { quietMs: 80, afterLoadMs: 100, atMostMs: 3_000 };
/** A quiet time is this many ticks in a row, plus one because a blocked thread can swallow one. */
const TICKS = 8;
/** How long the page's clock runs at a time while a request is in progress. */
const REQUEST_TICK_MS = 100;
/**
 * Where the page's clock is slow, as on a busy machine, waiting stops after this many times the maximum by our own
 * clock, or with this share of the deadline, so that there is time for a verdict.
 */
const SLOWEST = 2;
const SHARE = 1 / 3;
/** How long to wait for the clocks to start; a busy document starts its clock late. */
const BEGIN_MS = 50;
/** Attempts to wait for the time after a load event: the document can be replaced. */
const PAST_LOAD_ATTEMPTS = 5;
const WORLD = "refmcp-quiet";

/** `atMostMs`: the page time after which waiting stops. */
type QuietTime = {
  readonly quietMs: number;
  readonly afterLoadMs?: number;
  readonly atMostMs: number;
};

/**
 * Waits until a page is quiet, measured by timers that run in the page. By our own clock, a page with a busy thread
 * would look quiet while a timer that is about to throw is still waiting.
 */
export class Settling {
  readonly #events: PageEvents;
  readonly #clock: PageClock;
  #begun = () => {};

  constructor(page: Page, events: PageEvents) {
    this.#events = events;
    this.#clock = new PageClock(page.context());
    // While the page is loading; if it fails, it is retried.
    this.#clock.attach(page).catch(() => undefined);
  }

  /**
   * Lets the clocks of a wait start before the caller's next question to the page, because the first one keeps its
   * thread busy. Call it before `settled`.
   */
  begun(deadline: Deadline): Promise<void> {
    const begun = new Promise<void>((resolve) => {
      this.#begun = resolve;
    });
    return deadline.within(BEGIN_MS, begun);
  }

  /**
   * Waits until no request was in progress and no document changed for a while. Errors in that time are recorded, and
   * those up to `afterLoadMs` after the load event even if the page is not quiet. With `afterLoadMs` it also waits for timers
   * that are due soon, and longer for the data that scripts have requested.
   *
   * @returns false if the page was still active at the end.
   */
  async settled(
    deadline: Deadline,
    { quietMs, afterLoadMs = 0, atMostMs }: QuietTime = SETTLED,
  ): Promise<boolean> {
    const tickMs = quietMs / TICKS;
    let past = 0;
    let awaitedMs = 0;
    let hasAskedTimers = afterLoadMs === 0;
    const patience = performance.now() + SHARE * deadline.leftMs;
    let until = Math.min(performance.now() + SLOWEST * atMostMs, patience);
    while (past < atMostMs && performance.now() < until) {
      const { activity } = this.#events;
      const isIdle = () => this.#events.inFlight === 0 && this.#events.activity === activity;
      const began = performance.now();
      const pageMs = await deadline.race(this.#pass(tickMs, afterLoadMs, isIdle));
      if (pageMs !== undefined && isIdle()) {
        const dueMs = hasAskedTimers ? 0 : await deadline.race(timersDueMs(this.#events.page));
        if (dueMs === 0) return true;
        hasAskedTimers = true;
        until = Math.min(until + SLOWEST * dueMs, patience);
        await deadline.race(this.#inDocuments(() => this.#clock.tick(dueMs + tickMs, 1)));
        continue;
      }
      // There is no document, for example during a navigation, and so no page clock.
      if (pageMs === undefined) await deadline.sleep(tickMs);
      const tookMs = performance.now() - began;
      // The time that a step delays a response is in addition, and that for data.
      const isAwaiting = awaitedMs < DATA_MS && this.#events.unanswered.length > 0;
      if (isAwaiting) awaitedMs += tookMs;
      if (afterLoadMs > 0 && (isAwaiting || this.#events.isDelayed))
        until = Math.min(until + tookMs, patience);
      else past += pageMs ?? tookMs;
    }
    if (
      afterLoadMs > 0 &&
      !(await deadline.within(SHARE * deadline.leftMs, this.#pastLoad(afterLoadMs)))
    )
      this.#events.notes.add(
        "the page never settled, so checks of absence may have missed something",
      );
    return false;
  }

  /**
   * Waits until the load event is `afterLoadMs` of the page's time ago and the events up to then have arrived. Where the
   * machine is busy, waiting for quiet can stop before that, and an error that the page is about to throw would be missed.
   *
   * @returns whether that has happened.
   */
  async #pastLoad(afterLoadMs: number): Promise<boolean> {
    const clock = this.#clock;
    for (let attempt = 0; attempt < PAST_LOAD_ATTEMPTS; attempt++) {
      const isPast = await this.#inDocuments(async () => {
        if (clock.sinceLoadMs < afterLoadMs) {
          await clock.find();
          await clock.tick(afterLoadMs / TICKS, 1, afterLoadMs);
        }
        await clock.catchUp();
        return clock.sinceLoadMs >= afterLoadMs;
      });
      if (isPast) return true;
      await sleep(afterLoadMs / TICKS);
    }
    return false;
  }

  /**
   * Waits for a quiet time of all documents, or for a tick after some activity, or for the end of requests.
   *
   * @returns the maximum time that passed in the documents; undefined if one of them was replaced.
   */
  #pass(tickMs: number, afterLoadMs: number, isIdle: () => boolean): Promise<number | undefined> {
    return this.#inDocuments(async () => {
      await this.#clock.find();
      this.#begun();
      if (this.#events.inFlight > 0) return this.#requests(tickMs);
      const began = performance.now();
      const whole = this.#clock
        .tick(tickMs, TICKS + 1, afterLoadMs)
        .then(() => this.#clock.catchUp())
        .then(() => true);
      whole.catch(() => undefined);
      const wholeMs = tickMs * (TICKS + 1);
      while (isIdle()) if (await Promise.race([whole, sleep(2 * tickMs, false)])) return wholeMs;
      const beforeMs = Math.min(performance.now() - began, wholeMs);
      await this.#clock.tick(tickMs, 1);
      return beforeMs + tickMs;
    });
  }

  /** Works with the clocks of all documents; undefined if one of them was replaced. */
  async #inDocuments<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#clock.sinceLoadMs = 0;
      if (this.#events.page.isClosed()) throw error;
      return undefined;
    }
  }

  /** Waits until no request is in progress, or for some time of the documents, and returns how much passed in them. */
  async #requests(tickMs: number): Promise<number> {
    const began = performance.now();
    const ticked = this.#clock.tick(REQUEST_TICK_MS, 1).then(() => true);
    ticked.catch(() => undefined);
    while (this.#events.inFlight > 0 && !(await Promise.race([ticked, sleep(2 * tickMs, false)])));
    return Math.min(performance.now() - began, REQUEST_TICK_MS);
  }
}

/** A document with its own thread: a page's, or that of a frame in another process. */
interface Root {
  readonly frame: Frame;
  /** In an isolated JavaScript world: it shares the page's thread, not its globals. */
  evaluate(expression: string): Promise<unknown>;
}

/** The clocks of all documents of a run. */
class PageClock {
  readonly #context: BrowserContext;
  /** With the id of the frame, which lasts longer than its documents. */
  readonly #sessions = new Map<Page | Frame, Promise<{ session: CDPSession; frameId: string }>>();
  /** Other browsers have no Chrome DevTools Protocol, so their clocks run in the pages' own world. */
  readonly #isChromium: boolean;
  #roots: readonly Root[] = [];
  /** The time since the load event of the document that loaded last, at the end of the last tick; 0 before it. */
  sinceLoadMs = 0;

  constructor(context: BrowserContext) {
    this.#context = context;
    this.#isChromium = context.browser()?.browserType().name() === "chromium";
  }

  async find(): Promise<void> {
    this.sinceLoadMs = 0;
    const roots = this.#context.pages().flatMap((page) => {
      const main = page.mainFrame();
      const others = page.frames().filter((frame) => frame !== main);
      return [this.#root(page, main), ...others.map((frame) => this.#root(frame, frame))];
    });
    this.#roots = (await Promise.all(roots)).filter((root) => root !== undefined);
  }

  async #root(owner: Page | Frame, frame: Frame): Promise<Root | undefined> {
    let isAttached = false;
    if (!this.#isChromium) return { frame, evaluate: (expression) => frame.evaluate(expression) };
    try {
      const { session, frameId } = await this.attach(owner);
      isAttached = true;
      const { executionContextId: world } = await session.send("Page.createIsolatedWorld", {
        frameId,
        worldName: WORLD,
      });
      const evaluate = (expression: string) =>
        session
          .send("Runtime.evaluate", {
            expression,
            contextId: world,
            awaitPromise: true,
            returnByValue: true,
          })
          .then(({ result }): unknown => result.value);
      return { frame, evaluate };
    } catch (error) {
      // The document moved to another process: its session is replaced at the next update.
      this.#sessions.delete(owner);
      // A frame in its parent's process shares the parent's thread and session.
      if (owner === frame && !isAttached) return undefined;
      throw error;
    }
  }

  /** A session for a page, or for a frame in another process. */
  attach(owner: Page | Frame): Promise<{ session: CDPSession; frameId: string }> {
    const known = this.#sessions.get(owner);
    if (known !== undefined) return known;
    const attaching = this.#context.newCDPSession(owner).then(async (session) => {
      const { frameTree } = await session.send("Page.getFrameTree");
      return { session, frameId: frameTree.frame.id };
    });
    this.#sessions.set(owner, attaching);
    return attaching;
  }

  /** Lets each document's own timers run for this long, `times` times in a row. */
  async tick(milliseconds: number, times: number, afterLoadMs = 0): Promise<void> {
    // If scripts are disabled (a sandboxed document), no timer fires, and trying to run one logs an error.
    const expression = `matchMedia("(scripting: none)").matches ? 1e9 : (async () => {
      const [{ loadEventEnd } = { loadEventEnd: 0 }] = performance.getEntriesByType("navigation");
      for (let n = 0; n < ${times} || performance.now() < loadEventEnd + ${afterLoadMs}; n++) {
        await new Promise((done) => setTimeout(done, ${milliseconds}));
      }
      return document.readyState === "complete" ? performance.now() - loadEventEnd : 0;
    })()`;
    const since = await Promise.all(this.#roots.map(({ evaluate }) => evaluate(expression)));
    this.sinceLoadMs = Math.min(...since.map(Number));
  }

  /**
   * Waits for a reply on the session that reports console lines, errors and requests, so that all earlier events have
   * arrived. `title()` runs in Playwright's isolated world, so no page can block it.
   */
  async catchUp(): Promise<void> {
    await Promise.all(this.#roots.map(({ frame }) => frame.title()));
  }
}

const MAX_ELEMENTS = 20_000;

/**
 * Watches a page: by what the run records, and by its document.
 *
 * @returns whether it has changed since.
 */
export function watchChanges(events: PageEvents): () => Promise<boolean> {
  const { page, activity } = events;
  const watching = page.evaluateHandle(observe, MAX_ELEMENTS);
  watching.catch(() => undefined);
  return async () => {
    if (events.page !== page || events.activity !== activity) return true;
    // A document that was replaced has changed.
    return watching.then((handle) => handle.evaluate((seen) => seen.changed)).catch(() => true);
  };
}

function observe(max: number): { changed: boolean } {
  const seen = { changed: false };
  // A screenshot hides the carets of fields for its time, and covers what it masks.
  const isOurs = ({ type, attributeName, target, addedNodes, removedNodes }: MutationRecord) =>
    type === "attributes"
      ? attributeName === "style" &&
        target instanceof Element &&
        target.matches("input, textarea, [contenteditable]")
      : type === "childList" &&
        [...addedNodes, ...removedNodes].every((node) => /^x-pw-/i.test(node.nodeName));
  const observer = new MutationObserver((records) => {
    if (records.every(isOurs)) return;
    seen.changed = true;
    observer.disconnect();
  });
  const watch = (root: Document | ShadowRoot) => {
    observer.observe(root, {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
    const all = root.querySelectorAll("*");
    for (let n = 0; n < Math.min(all.length, max); n++) {
      const inner = all[n]?.shadowRoot;
      if (inner) watch(inner);
    }
  };
  watch(document);
  return seen;
}
