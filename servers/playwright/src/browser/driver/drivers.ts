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

/**
 * Driver processes, each with one browser, and one run at a time: a page that crashes or stalls its driver loses only its
 * own verdict. One driver is started ahead of time. Idle ones are ended.
 */
export class Drivers {
  readonly #start: () => Driver;
  readonly #host: DriverHost;
  readonly #limits: typeof LIMITS;
  readonly #most: number;
  readonly #semaphore: Semaphore;
  /** Each driver, and whether it has a run. */
  readonly #all = new Map<Driver, boolean>();
  readonly #dedicated = new Set<Driver>();
  #quiet: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: DriverOptions, host: DriverHost, limits: Partial<typeof LIMITS> = {}) {
    this.#host = host;
    this.#limits = { ...LIMITS, ...limits };
    this.#start = () => new Driver(options, host);
    this.#most = options.concurrency;
    this.#semaphore = semaphoreOf(this.#most);
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
      return await this.#use(deviceRuns, call, (driver) =>
        driver.call("run", request, call, Math.min(request.timeoutMs, call.leftMs) * deviceRuns),
      );
    } catch (error) {
      throw failureOf(error, request, Math.round(performance.now() - began));
    }
  }

  inspect(request: InspectRequest, call: Calling) {
    return this.#use(1, call, (driver) => driver.call("inspect", request, call, call.leftMs));
  }

  /** Compares the captures of a page, which takes memory and time like a run. */
  difference(request: DifferenceRequest, call: Calling) {
    return this.#use(1, call, (driver) => driver.call("difference", request, call, DIFFERENCE_MS));
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
    const driver = this.#next();
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
    await this.#next().call("ready", undefined, BACKGROUND_CALL, ASK_MS);
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

  /** An idle one, or a new one. */
  #next(): Driver {
    for (const driver of this.#idle) if (!driver.isFit) driver.retire();
    return this.#idle[0] ?? this.#fresh();
  }

  get #idle(): Driver[] {
    return [...this.#all].flatMap(([driver, isBusy]) => (driver.isOpen && !isBusy ? [driver] : []));
  }

  #fresh(): Driver {
    if (this.#closed)
      throw new ToolError("unavailable", "The server is closing, so it starts no more browsers.");
    const driver = this.#start();
    this.#all.set(driver, false);
    void driver.ended.then(() => this.#all.delete(driver));
    return driver;
  }

  /** Works with a driver that has no other run. */
  async #use<Value>(
    turns: number,
    { signal }: Calling,
    work: (driver: Driver) => Promise<Value>,
  ): Promise<Value> {
    const value = await this.#semaphore.use(signal, Math.min(turns, this.#most), async () => {
      clearTimeout(this.#quiet);
      const driver = this.#next();
      this.#all.set(driver, true);
      try {
        return await work(driver);
      } finally {
        if (this.#all.has(driver)) this.#all.set(driver, false);
        if (!driver.isFit || driver.callCount >= this.#limits.calls) driver.retire();
        this.#endIdleLater();
      }
    });
    this.#host.changed();
    return value;
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
