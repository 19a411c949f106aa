import { ToolError } from "@refmcp/boundary/answer";
import type { CompareRequest } from "../compare/compare.ts";
import type { Calling } from "../deadline.ts";
import type { InspectRequest } from "../run/inspect.ts";
import { failureOf } from "../run/report.ts";
import type { RunRequest } from "../run/run.ts";
import { Driver, type DriverHost as Host } from "./driver.ts";
import type { DriverOptions } from "./protocol.ts";

export interface DriverHost extends Host {
  readonly changed: () => void;
}

/** After this time without calls, no driver runs. */
const IDLE_MS = 300_000;
const ASK_MS = 30_000;
const BACKGROUND_CALL: Calling = {
  signal: new AbortController().signal,
  leftMs: ASK_MS,
  progress: () => undefined,
};

/**
 * The driver process of all runs, which share its browser and have a context each, and those of sessions. It is started
 * ahead of time, replaced when it ends, and ended when idle.
 */
export class Drivers {
  readonly #start: () => Driver;
  readonly #host: DriverHost;
  readonly #idleMs: number;
  #shared: Driver | undefined;
  readonly #all = new Set<Driver>();
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: DriverOptions, host: DriverHost, idleMs = IDLE_MS) {
    this.#host = host;
    this.#idleMs = idleMs;
    this.#start = () => {
      if (this.#isClosed)
        throw new ToolError("unavailable", "The server is closing, so it starts no more browsers.");
      const driver = new Driver(options, host);
      this.#all.add(driver);
      void driver.ended.then(() => this.#all.delete(driver));
      return driver;
    };
  }

  /** Starts the driver in the background, if there is none. */
  prewarm(): void {
    this.#current();
  }

  /** Runs a test; the driver lets it wait for its turn. */
  async run(request: RunRequest, call: Calling) {
    const began = performance.now();
    const turns = Math.max(1, request.devices.length);
    const maxMs = () => Math.min(request.timeoutMs, call.leftMs) * turns;
    try {
      return await this.#use(call, request.steps.length === 0, (driver) =>
        driver.call("run", request, call, maxMs()),
      );
    } catch (error) {
      throw failureOf(error, request, Math.round(performance.now() - began));
    }
  }

  inspect(request: InspectRequest, call: Calling) {
    return this.#use(call, request.steps.length === 0, (driver) =>
      driver.call("inspect", request, call, call.leftMs),
    );
  }

  compare(request: CompareRequest, call: Calling) {
    return this.#use(call, request.steps.length === 0, (driver) =>
      driver.call("compare", request, call, call.leftMs),
    );
  }

  /** @throws ToolError if a sentence or a device is invalid. */
  async prepare(request: RunRequest): Promise<void> {
    await this.#open().call("prepare", request, BACKGROUND_CALL, ASK_MS);
  }

  /** @throws ToolError `invalid` for an unknown device. */
  devices(names: readonly string[]) {
    return this.#open().call("devices", names, BACKGROUND_CALL, ASK_MS);
  }

  /** @throws ToolError `unavailable` if no browser starts. */
  async ready(): Promise<void> {
    await this.#current().call("ready", undefined, BACKGROUND_CALL, ASK_MS);
  }

  /** A driver for one session, ended by its caller or with the server. */
  dedicated(): Driver {
    return this.#start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await Promise.all([...this.#all].map((driver) => driver.close()));
  }

  /** The driver, even if no browser starts. */
  #open(): Driver {
    return this.#shared?.isOpen === true ? this.#shared : this.#current();
  }

  #current(): Driver {
    if (this.#shared?.isFit !== true) {
      this.#shared?.retire();
      this.#shared = this.#start();
    }
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#shared?.retire(), this.#idleMs).unref();
    return this.#shared;
  }

  /**
   * Works with the driver.
   *
   * @param isRepeatable whether work that ended with the driver is done again: in a separate driver, since it could be
   *   what ended the first.
   */
  async #use<Value>(
    { signal }: Calling,
    isRepeatable: boolean,
    work: (driver: Driver) => Promise<Value>,
  ): Promise<Value> {
    try {
      return await work(this.#current());
    } catch (error) {
      const isEnded = error instanceof ToolError && /^(?:restarted|memory)$/.test(error.code ?? "");
      if (!isRepeatable || !isEnded || signal.aborted) throw error;
      const own = this.#start();
      return await work(own).finally(() => own.retire());
    } finally {
      this.#host.changed();
    }
  }
}
