import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContext, CDPSession, Frame, Page } from "playwright";
import type { Deadline } from "./deadline.ts";
import type { PageRecord } from "./record.ts";

/** How long nothing may happen before a page counts as settled, and how long it gets to come to that. */
const SETTLED = { quietMs: 100, atMostMs: 3_000 };
/** A quiet time is this many ticks in a row, and one more because a blocked thread can swallow one. */
const TICKS = 5;
const WORLD = "refmcp-quiet";

export interface QuietTime {
  readonly quietMs: number;
  /** Page time after which the wait is given up. */
  readonly atMostMs: number;
}

/**
 * Waits until a page is quiet, measured by timers that run in the page. On our own clock a page whose thread is busy
 * would look quiet while the timer that is about to throw has not had its turn.
 */
export class Quiet {
  readonly #record: PageRecord;
  /** Of the run, or of the call that a session serves now. */
  deadline: Deadline;
  readonly #clock: PageClock;

  constructor(page: Page, record: PageRecord, deadline: Deadline) {
    this.#record = record;
    this.deadline = deadline;
    this.#clock = new PageClock(page.context());
    // While the page is on its way; where it fails, it is tried again.
    this.#clock.attach(page).catch(() => undefined);
  }

  /**
   * Waits until no request was under way and no document changed for a while. Errors of that time are in the record.
   *
   * @returns false where the page was still active when the time was over.
   */
  async settled({ quietMs, atMostMs }: QuietTime = SETTLED): Promise<boolean> {
    const tickMs = quietMs / TICKS;
    let past = 0;
    while (past < atMostMs) {
      const { activity } = this.#record;
      const isCalm = () => this.#record.inFlight === 0 && this.#record.activity === activity;
      const began = performance.now();
      const pageMs = await this.deadline.race(this.#pass(tickMs, isCalm));
      if (pageMs !== undefined && isCalm()) return true;
      // There is no document, for example during a navigation, and so no page clock.
      if (pageMs === undefined) await this.deadline.sleep(tickMs);
      past += pageMs ?? performance.now() - began;
    }
    return false;
  }

  /**
   * Waits for a quiet time of all documents, or for a tick after something happened meanwhile.
   *
   * @returns how much of the documents' time passed at most; undefined where they were not there all the time.
   */
  async #pass(tickMs: number, isCalm: () => boolean): Promise<number | undefined> {
    try {
      await this.#clock.find();
      const began = performance.now();
      const whole = this.#clock.tick(tickMs, TICKS + 1).then(() => this.#clock.catchUp());
      let isOver = false;
      whole.then(
        () => {
          isOver = true;
        },
        () => undefined,
      );
      while (!isOver && isCalm()) await Promise.race([whole, sleep(tickMs)]);
      const wholeMs = tickMs * (TICKS + 1);
      if (isOver) return wholeMs;
      const beforeMs = Math.min(performance.now() - began, wholeMs);
      await this.#clock.tick(tickMs, 1);
      return beforeMs + tickMs;
    } catch (error) {
      if (this.#record.page.isClosed()) throw error;
      return undefined;
    }
  }
}

/** A document with a thread of its own: a page's, or that of a frame in another process. */
interface Root {
  readonly session: CDPSession;
  readonly frame: Frame;
  /** A JavaScript world that the page cannot reach: it shares the thread, not the globals. */
  readonly world: number;
}

/** The clocks of all documents of a run. */
class PageClock {
  readonly #context: BrowserContext;
  /** With the id of the frame, which lasts longer than its documents. */
  readonly #sessions = new Map<Page | Frame, Promise<{ session: CDPSession; frameId: string }>>();
  #roots: readonly Root[] = [];

  constructor(context: BrowserContext) {
    this.#context = context;
  }

  /** Looks which documents there are now. */
  async find(): Promise<void> {
    const roots = this.#context.pages().flatMap((page) => {
      const main = page.mainFrame();
      const others = page.frames().filter((frame) => frame !== main);
      return [this.#root(page, main), ...others.map((frame) => this.#root(frame, frame))];
    });
    this.#roots = (await Promise.all(roots)).filter((root) => root !== undefined);
  }

  async #root(owner: Page | Frame, frame: Frame): Promise<Root | undefined> {
    let isAttached = false;
    try {
      const { session, frameId } = await this.attach(owner);
      isAttached = true;
      const { executionContextId: world } = await session.send("Page.createIsolatedWorld", {
        frameId,
        worldName: WORLD,
      });
      return { session, frame, world };
    } catch (error) {
      // The document moved to another process: its session is replaced at the next look.
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
  async tick(milliseconds: number, times: number): Promise<void> {
    // Where scripts are off (a sandboxed document) no timer fires, and trying to run one is logged as an error.
    const expression = `matchMedia("(scripting: none)").matches || (async () => {
      for (let n = 0; n < ${times}; n++) await new Promise((done) => setTimeout(done, ${milliseconds}));
    })()`;
    await Promise.all(
      this.#roots.map(({ session, world }) =>
        session.send("Runtime.evaluate", { expression, contextId: world, awaitPromise: true }),
      ),
    );
  }

  /**
   * Waits for an answer on the session that reports console lines, errors and requests: what happened in the page
   * before is reported before. `title()` is read in Playwright's isolated world, so no page can stop it.
   */
  async catchUp(): Promise<void> {
    await Promise.all(this.#roots.map(({ frame }) => frame.title()));
  }
}
