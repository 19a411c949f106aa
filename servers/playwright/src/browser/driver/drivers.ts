import { ToolError } from "@refmcp/boundary/answer";
import type { DifferenceRequest } from "../compare/difference.ts";
import type { Calling } from "../session/deadline.ts";
import type { InspectRequest } from "../verdict/inspect.ts";
import { failureOf } from "../verdict/report.ts";
import type { RunRequest } from "../verdict/tester.ts";
import { Driver, type DriverHost as Host } from "./driver.ts";
import type { DriverOptions } from "./protocol.ts";
import { type Semaphore, semaphoreOf } from "./semaphore.ts";

export interface DriverHost extends Host {
  readonly changed: () => void;
}

const LIMITS = {
  /** After this time without requests, one driver stays. */
  quietMs: 60_000,
  /** After this time without requests, none stays. */
  idleMs: 300_000,
  /** A driver is replaced after this many calls, because pages leave data in its browser. */
  calls: 200,
};
const DIFFERENCE_MS = 60_000;
const ASK_MS = 30_000;
const BACKGROUND_CALL: Calling = {
  signal: new AbortController().signal,
  leftMs: ASK_MS,
  progress: () => undefined,
};

/** A run that a driver has now. */
interface Use {
  readonly alone: boolean;
  /** Whether the driver also had another run at some time. */
  wasShared: boolean;
}

/** Delays of a driver's process from which on a run can fail because of another. */
const MAX_DELAY_MS = 250;
/** The kinds of errors that another run can cause. */
const CAUSED: ReadonlySet<string> = new Set(["timeout", "unavailable", "too_large"]);

/**
 * Driver processes, each with one browser. A page that crashes or stalls its driver loses only its own verdict: runs
 * without steps share a driver, and one that another run disturbed is repeated alone. Runs with steps are always alone,
 * because their steps may not be performed twice. One driver is started ahead of time. Idle ones are ended.
 */
export class Drivers {
  readonly #start: () => Driver;
  readonly #host: DriverHost;
  readonly #limits: typeof LIMITS;
  /** Shares of the semaphore: of a page, and of a browser that only one run uses. */
  readonly #page: number;
  readonly #browser: number;
  readonly #semaphore: Semaphore;
  readonly #all = new Map<Driver, Set<Use>>();
  readonly #dedicated = new Set<Driver>();
  #quiet: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: DriverOptions, host: DriverHost, limits: Partial<typeof LIMITS> = {}) {
    this.#host = host;
    this.#limits = { ...LIMITS, ...limits };
    this.#start = () => new Driver(options, host);
    this.#page = options.maxAlone;
    this.#browser = options.concurrency;
    this.#semaphore = semaphoreOf(this.#page * this.#browser);
  }

  /** Starts one in the background, if there is none. */
  prewarm(): void {
    this.#any();
  }

  /** Runs a test; a test on several devices takes one turn for each. */
  async run(request: RunRequest, call: Calling) {
    const began = performance.now();
    const deviceRuns = Math.max(1, request.devices.length);
    try {
      return await this.#use(
        deviceRuns,
        request.steps.length > 0,
        call,
        (driver) =>
          driver.call("run", request, call, Math.min(request.timeoutMs, call.leftMs) * deviceRuns),
        ({ passed }) => passed,
      );
    } catch (error) {
      throw failureOf(error, request, Math.round(performance.now() - began));
    }
  }

  inspect(request: InspectRequest, call: Calling) {
    const alone = request.steps.length > 0 || request.from !== undefined;
    return this.#use(1, alone, call, (driver) =>
      driver.call("inspect", request, call, call.leftMs),
    );
  }

  /** Compares the captures of a page, which takes memory and time like a run. */
  difference(request: DifferenceRequest, call: Calling) {
    return this.#use(1, false, call, (driver) =>
      driver.call("difference", request, call, DIFFERENCE_MS),
    );
  }

  /** @throws ToolError if a sentence or a device is invalid. */
  async prepare(request: RunRequest): Promise<void> {
    await this.#any().call("prepare", request, BACKGROUND_CALL, ASK_MS);
  }

  /** @throws ToolError `invalid` for an unknown device. */
  devices(names: readonly string[]) {
    return this.#any().call("devices", names, BACKGROUND_CALL, ASK_MS);
  }

  /** A driver for one session, ended by its caller or with the server. */
  dedicated(): Driver {
    const driver = this.#next(true);
    this.#all.delete(driver);
    this.#dedicated.add(driver);
    void driver.ended.then(() => this.#dedicated.delete(driver));
    driver.watchMemoryBetweenCalls();
    this.prewarm();
    return driver;
  }

  /** Any driver, even a busy one. */
  #any(): Driver {
    const open = [...this.#all.keys()].filter(({ isOpen }) => isOpen);
    const driver = open.find(({ isFit }) => isFit) ?? open[0] ?? this.#fresh();
    this.#endIdleLater();
    return driver;
  }

  /** @throws ToolError `unavailable` if no browser starts. */
  async ready(): Promise<void> {
    await this.#next(false).call("ready", undefined, BACKGROUND_CALL, ASK_MS);
    this.#endIdleLater();
  }

  async browsers() {
    return Promise.all(
      this.#fit.map((driver) => driver.call("browser", undefined, BACKGROUND_CALL, ASK_MS)),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#quiet);
    await Promise.all([...this.#all.keys(), ...this.#dedicated].map((driver) => driver.close()));
  }

  get #fit(): Driver[] {
    return [...this.#all.keys()].filter(({ isFit }) => isFit);
  }

  /** An idle one, or one whose runs share it, or a new one. */
  #next(alone: boolean): Driver {
    for (const driver of this.#idle) if (!driver.isFit) driver.retire();
    const [idle] = this.#idle;
    if (idle !== undefined || alone) return idle ?? this.#fresh();
    const shares = (driver: Driver) =>
      [...(this.#all.get(driver) ?? [])].every((use) => !use.alone);
    return this.#fit.find((driver) => this.#canTakeMore(driver) && shares(driver)) ?? this.#fresh();
  }

  get #idle(): Driver[] {
    return [...this.#all].flatMap(([driver, uses]) =>
      driver.isOpen && uses.size === 0 ? [driver] : [],
    );
  }

  #canTakeMore({ isFit, callCount }: Driver): boolean {
    return isFit && callCount < this.#limits.calls;
  }

  #fresh(): Driver {
    if (this.#closed)
      throw new ToolError("unavailable", "The server is closing, so it starts no more browsers.");
    const driver = this.#start();
    this.#all.set(driver, new Set());
    void driver.ended.then(() => this.#all.delete(driver));
    return driver;
  }

  /**
   * Works with a driver; a second time if another run may have disturbed the first.
   *
   * @param alone no other run may use the driver at the same time, so the work is never repeated.
   * @param isGood whether a result shows that nothing disturbed the work.
   */
  async #use<Value>(
    turns: number,
    alone: boolean,
    { signal }: Calling,
    work: (driver: Driver) => Promise<Value>,
    isGood: (value: Value) => boolean = () => true,
  ): Promise<Value> {
    const pages = this.#page * Math.min(turns, this.#browser);
    const attempt = (own: boolean) =>
      this.#semaphore.use(signal, own ? Math.max(this.#browser, pages) : pages, () =>
        this.#attempt(own, work),
      );
    let { done, wasDisturbed } = await attempt(alone);
    const canBeCaused =
      "error" in done
        ? done.error instanceof ToolError && CAUSED.has(done.error.kind)
        : !isGood(done.value);
    if (canBeCaused && wasDisturbed && !signal.aborted) {
      this.#host.log("a run that another one may have disturbed is repeated alone");
      ({ done } = await attempt(true));
    }
    if ("error" in done) throw done.error;
    this.#host.changed();
    return done.value;
  }

  async #attempt<Value>(alone: boolean, work: (driver: Driver) => Promise<Value>) {
    clearTimeout(this.#quiet);
    const driver = this.#next(alone);
    const uses = this.#all.get(driver) ?? new Set();
    const use: Use = { alone, wasShared: false };
    uses.add(use);
    if (uses.size > 1) for (const one of uses) one.wasShared = true;
    const done = await work(driver).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const hasCrashed =
      "error" in done && done.error instanceof ToolError && done.error.code === "crash";
    const isTrouble = hasCrashed || !driver.isFit || driver.delayMs > MAX_DELAY_MS;
    uses.delete(use);
    if (uses.size === 0 && !this.#canTakeMore(driver)) driver.retire();
    this.#endIdleLater();
    return { done, wasDisturbed: use.wasShared && isTrouble };
  }

  #endIdleLater(): void {
    clearTimeout(this.#quiet);
    const { quietMs, idleMs } = this.#limits;
    const endBut = (count: number) => {
      for (const driver of this.#idle.slice(count)) driver.retire();
    };
    this.#quiet = setTimeout(() => {
      endBut(1);
      this.#quiet = setTimeout(endBut, idleMs - quietMs, 0).unref();
    }, quietMs).unref();
  }
}
