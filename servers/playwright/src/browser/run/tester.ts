import { Line } from "@refmcp/boundary";
import { parseTargetUrl, refusedUrl } from "../address.ts";
import type { Calling } from "../deadline.ts";
import { type Device, devicesOf } from "../devices.ts";
import type { Launched } from "../driver/launch.ts";
import { parseScript } from "../language/parse.ts";
import { secretsOf } from "../language/sentences.ts";
import { Contexts, type ContextsOptions } from "../page/open.ts";
import type { SessionServices } from "../page/session.ts";
import type { NetworkPolicy } from "../policy.ts";
import { registerEngine } from "../secrets/fields.ts";
import { type Secrets, SecretsInRun } from "../secrets/secrets.ts";
import type { RunFolder } from "../store/disk.ts";
import type { Done, RunStore } from "../store/runs.ts";
import { failureOf, type RunReport, shownArtifact } from "./report.ts";
import {
  type DeviceRun,
  type DeviceRunOptions,
  type ParsedTest,
  type RunRequest,
  runOnDevice,
} from "./run.ts";

export interface TesterOptions extends Omit<ContextsOptions, "closeMs"> {
  readonly policy: Pick<NetworkPolicy, "guardFor">;
  readonly runs: RunStore;
  readonly secrets: Secrets;
  readonly readUpload: SessionServices["readUpload"];
  readonly concurrency: number;
  readonly log: (sentence: string) => void;
  readonly stepMs?: number | undefined;
}

/** Runs tests in one browser, and stores their artifacts. */
export class Tester {
  readonly contexts: Contexts;
  readonly options: TesterOptions;
  readonly #line: Line;

  constructor(options: TesterOptions) {
    this.options = options;
    this.contexts = new Contexts({ ...options, launch: () => this.#launch() });
    this.#line = new Line(options.concurrency);
  }

  /** Starts the browser in the background; if that fails, the first run reports why. */
  prewarm(): void {
    this.contexts.browser().catch(() => undefined);
  }

  close(): Promise<void> {
    return this.contexts.close();
  }

  /**
   * Runs one test on each of its devices.
   *
   * @throws ToolError if there is no verdict; its data contains the assertions and the duration.
   */
  async run(request: RunRequest, call: Calling): Promise<RunReport> {
    const began = performance.now();
    const tookMs = () => Math.round(performance.now() - began);
    const { runs, secrets } = this.options;
    let folder: RunFolder | undefined;
    try {
      const test = await this.prepare(request);
      const services = await this.servicesFor(test.url);
      folder = await runs.begin(secrets.redact);
      const scope = { request, test, call, folder };
      const run = await this.#runOnDevices(scope, services);
      const artifacts = (await runs.kept(folder)).map(shownArtifact);
      const { url, steps, assertions, devices } = request;
      const report = { url, durationMs: tookMs(), ...run, run_id: folder.id, artifacts };
      // With the script, so that an inspection can repeat it and a spec can be written from it.
      const done = { steps, assertions, devices };
      await runs.finish<Done>(folder, { ...report, done });
      // After the report's own file, which may not have been kept.
      const notes = [...folder.notes(), ...(run.notes ?? [])];
      return secrets.redactIn({ ...report, notes: notes.length === 0 ? undefined : notes });
    } catch (error) {
      if (folder !== undefined) await runs.drop(folder.id);
      throw secrets.redactError(failureOf(error, request, tookMs()));
    }
  }

  /** Runs a test on one device when it has its turn, without a report. */
  async runOn(device: Device, options: Omit<DeviceRunOptions, "device" | "progress">) {
    const services = await this.servicesFor(options.test.url);
    const run = () => runOnDevice({ ...options, device, progress: () => undefined }, services);
    return this.#line.run("", run, options.call.signal);
  }

  /** The dependencies of a run or a session that starts at `url`. */
  async servicesFor(url: URL): Promise<SessionServices> {
    const guard = await this.options.policy.guardFor(url);
    const secrets = new SecretsInRun(this.options.secrets);
    return { ...this.options, guard, contexts: this.contexts, secrets };
  }

  /** Parses the caller's input before a browser is used. */
  async prepare(
    request: Pick<RunRequest, "url" | "steps" | "assertions" | "devices">,
  ): Promise<ParsedTest> {
    const url = parseTargetUrl(request.url);
    if (typeof url === "string") throw refusedUrl(request.url, url);
    const script = parseScript(request.steps, request.assertions);
    for (const name of secretsOf(script)) this.options.secrets.value(name);
    return { url, script, devices: await devicesOf(request.devices) };
  }

  async #runOnDevices(
    scope: Omit<DeviceRunOptions, "device" | "progress">,
    services: SessionServices,
  ): Promise<DeviceRun> {
    const { test, call, request } = scope;
    const { length } = test.devices;
    const began = performance.now();
    let done = 0;
    const runOn = async (device: Device) => {
      const progress = (note: string) => {
        // Clients want progress that grows.
        const ms = performance.now() - began;
        const share = done + ms / (ms + request.timeoutMs);
        call.progress(share, length, length > 1 ? `${device.name}: ${note}` : note);
      };
      const run = await runOnDevice({ ...scope, device, progress }, services);
      done += 1;
      call.progress(done, length, `${device.name} ${run.passed ? "passed" : "failed"}`);
      return run;
    };
    const running = test.devices.map((device) =>
      this.#line.run("", () => runOn(device), call.signal),
    );
    // No work continues after the answer.
    await Promise.allSettled(running);
    return joined(await Promise.all(running));
  }

  async #launch(): Promise<Launched> {
    const { launch, secrets, log } = this.options;
    const began = performance.now();
    const launched = await launch();
    if (!secrets.isEmpty) await registerEngine();
    const { browser, from, sandboxed } = launched;
    const ready = `ready in ${Math.round(performance.now() - began)} ms`;
    log(
      `browser ${browser.version()} from ${from} ${ready}${sandboxed ? "" : "; its sandbox is off"}`,
    );
    return launched;
  }
}

/** The runs on all devices as one; the page's properties are those of the first. */
function joined(runs: readonly DeviceRun[]): DeviceRun {
  return {
    ...runs[0],
    assertions: runs.flatMap((run) => run.assertions),
    passed: runs.every((run) => run.passed),
    notes: [...new Set(runs.flatMap((run) => run.notes ?? []))].slice(0, 10),
    failed_step: runs.find((run) => run.failed_step !== undefined)?.failed_step,
  };
}
