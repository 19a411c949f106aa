import { ToolError } from "@refmcp/boundary/answer";
import { type Semaphore, semaphoreOf } from "../driver/semaphore.ts";
import { explicit, type Found } from "../language/explicit.ts";
import { parseScript, type Script, secretsOf, statesOf } from "../language/script.ts";
import type { Launched } from "../launch/launch.ts";
import { parseTargetUrl } from "../network/address.ts";
import type { NetworkPolicy } from "../network/policy.ts";
import { refusedUrl } from "../network/refusal.ts";
import type { BaselineStore } from "../store/baselines.ts";
import type { Done, RunStore } from "../store/runs.ts";
import type { StateStore } from "../store/states.ts";
import type { RunServices } from "./acting.ts";
import { Contexts, type ContextsOptions } from "./context.ts";
import { type Device, devicesOf } from "./devices.ts";
import type { EvidenceKind } from "./evidence.ts";
import { registerGuard } from "./guard.ts";
import { failureOf, type RunReport, shownArtifact } from "./report.ts";
import { type Look, runOnDevice } from "./run.ts";
import type { Secrets } from "./secrets.ts";
import { SecretsInRun } from "./secrets-in-run.ts";

export interface TesterOptions extends Omit<ContextsOptions, "closeMs"> {
  readonly policy: Pick<NetworkPolicy, "guardFor">;
  readonly runs: RunStore;
  readonly baselines: BaselineStore;
  readonly states: StateStore;
  readonly secrets: Secrets;
  readonly readUpload: RunServices["readUpload"];
  /** Maximum concurrent contexts. */
  readonly concurrency: number;
  readonly log: (sentence: string) => void;
  readonly stepMs?: RunServices["stepMs"];
}

/** A requested test. */
export interface RunRequest {
  readonly url: string;
  readonly steps: readonly string[];
  readonly assertions: readonly string[];
  readonly devices: readonly string[];
  readonly evidence: readonly EvidenceKind[];
  readonly timeoutMs: number;
  readonly look?: Look;
}

/** The parts of a call that a run uses. */
export interface Calling {
  readonly signal: AbortSignal;
  /** Milliseconds until the call times out. */
  readonly leftMs: number;
  progress(done: number, total?: number, note?: string): void;
}

/** The time left for a call's work: the rest is for cleaning up and writing the answer. */
export const workMs = ({ leftMs }: Calling): number => leftMs - Math.min(6_000, leftMs / 4);
const BEAT_MS = 5_000;

interface ParsedTest {
  readonly url: URL;
  readonly script: Script;
  readonly devices: readonly Device[];
}

/** Runs tests in one browser, and stores their artifacts. */
export class Tester {
  readonly contexts: Contexts;
  readonly runs: RunStore;
  readonly baselines: BaselineStore;
  readonly secrets: Secrets;
  readonly options: TesterOptions;
  readonly #semaphore: Semaphore;

  constructor(options: TesterOptions) {
    this.options = options;
    this.contexts = new Contexts({ ...options, launch: () => this.#launch() });
    this.runs = options.runs;
    this.baselines = options.baselines;
    this.secrets = options.secrets;
    this.#semaphore = semaphoreOf(options.concurrency);
  }

  /** Starts the browser in the background; if that fails, the first run reports why. */
  prewarm(): void {
    this.contexts.prewarm().catch((error: unknown) => {
      this.options.log(
        `the browser was not started ahead: ${error instanceof Error ? error.message : error}`,
      );
    });
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
    const secrets = new SecretsInRun(this.secrets, [request.url, ...request.steps, ...request.assertions]);
    try {
      return await this.#play(request, await this.prepare(request), call, tookMs, secrets);
    } catch (error) {
      throw this.redacted(failureOf(error, request, tookMs()), secrets);
    }
  }

  /** An error without secrets. */
  redacted(error: unknown, secrets: SecretsInRun): unknown {
    if (!(error instanceof ToolError)) return error;
    const { message, data } = secrets.redactIn({ message: error.message, data: error.data });
    return new ToolError(error.kind, message, { ...error, data, cause: error.cause });
  }

  /** The dependencies of a run or a session that starts at `url`. */
  async servicesFor(url: URL, secrets: SecretsInRun): Promise<RunServices> {
    const guard = await this.options.policy.guardFor(url);
    return { ...this.options, guard, contexts: this.contexts, secrets };
  }

  /** Parses the caller's input before a browser is used. */
  async prepare({
    url,
    steps,
    assertions,
    devices,
  }: Pick<RunRequest, "url" | "steps" | "assertions" | "devices">): Promise<ParsedTest> {
    const parsed = parseTargetUrl(url);
    if (typeof parsed === "string") throw refusedUrl(url, parsed);
    const script = parseScript(steps, assertions);
    for (const name of secretsOf(script)) this.secrets.value(name);
    for (const name of statesOf(script)) await this.options.states.read(name);
    return { url: parsed, script, devices: await devicesOf(devices) };
  }

  async #play(
    request: RunRequest,
    { url, script, devices }: ParsedTest,
    call: Calling,
    tookMs: () => number,
    secrets: SecretsInRun,
  ): Promise<RunReport> {
    const runServices = await this.servicesFor(url, secrets);
    const folder = await this.runs.begin();
    const found: Found = new Map();
    let beat: NodeJS.Timeout | undefined;
    try {
      let done = 0;
      // Progress that grows with time, to keep a long call alive.
      const report = (note?: string) =>
        call.progress(done + tookMs() / (tookMs() + request.timeoutMs), devices.length, note);
      beat = setInterval(() => report(), BEAT_MS).unref();
      const deviceRuns = await settledAll(
        devices.map((device) =>
          this.#semaphore.use(call.signal, 1, async () => {
            const deviceRun = await runOnDevice(
              {
                url,
                script,
                device,
                matrix: devices.length > 1,
                evidence: request.evidence,
                look: request.look,
                timeoutMs: Math.min(request.timeoutMs, workMs(call)),
                signal: call.signal,
                folder,
                found,
                progress: (note) => report(devices.length > 1 ? `${device.name}: ${note}` : note),
              },
              runServices,
            );
            done += 1;
            call.progress(done, devices.length, `${device.name} ${deviceRun.passed ? "passed" : "failed"}`);
            return deviceRun;
          }),
        ),
      );
      const { assertions, notes, passed, ...facts } = joined(deviceRuns);
      const artifacts = (await this.runs.kept(folder)).map(shownArtifact);
      const durationMs = tookMs();
      const answer = (): RunReport => {
        const all = [...folder.notes(), ...notes];
        return {
          // A page may show secrets in its title, URL or texts.
          ...secrets.redactIn({
            url: request.url,
            assertions,
            durationMs,
            passed,
            ...facts,
            ...(all.length === 0 ? {} : { notes: all }),
          }),
          run_id: folder.id,
          artifacts,
        };
      };
      // With the script, so that an inspection can repeat it and a spec can be written from it.
      const said = (texts: readonly string[], parsed: readonly object[]) =>
        texts.map((text, index) => explicit(text, parsed[index], found));
      await this.runs.finish<Done>(folder, {
        ...answer(),
        done: {
          steps: said(request.steps, script.steps),
          assertions: said(request.assertions, script.assertions),
          devices: request.devices,
        },
      });
      // Again, since the report's own file may not have been kept.
      return answer();
    } catch (error) {
      await this.runs.drop(folder.id);
      throw error;
    } finally {
      clearInterval(beat);
    }
  }

  /** Information about the browser, for diagnosis. */
  async browser(): Promise<Record<string, unknown>> {
    const launched = await this.contexts.browser().catch(() => undefined);
    if (launched?.browser.isConnected() !== true) return { running: false };
    const { browser, from, sandboxed } = launched;
    return { running: true, version: browser.version(), from, sandbox: sandboxed };
  }

  async #launch(): Promise<Launched> {
    const began = performance.now();
    const launched = await this.options.launch();
    if (this.secrets.isUsed) await registerGuard();
    const { browser, from, sandboxed } = launched;
    const tookMs = Math.round(performance.now() - began);
    this.options.log(
      `browser ${browser.version()} from ${from} ready in ${tookMs} ms${sandboxed ? "" : "; its sandbox is off"}`,
    );
    return launched;
  }
}

type DeviceRuns = readonly Awaited<ReturnType<typeof runOnDevice>>[];

/** The runs on all devices as one report; the page's properties are those of the first. */
function joined(deviceRuns: DeviceRuns) {
  const [first] = deviceRuns;
  const failed = deviceRuns.find((deviceRun) => deviceRun.failed_step !== undefined)?.failed_step;
  return {
    assertions: deviceRuns.flatMap((deviceRun) => deviceRun.assertions),
    passed: deviceRuns.every((deviceRun) => deviceRun.passed),
    notes: [...new Set(deviceRuns.flatMap((deviceRun) => deviceRun.notes ?? []))].slice(0, 10),
    ...(first?.final_url === undefined ? {} : { final_url: first.final_url }),
    ...(first?.status === undefined ? {} : { status: first.status }),
    ...(first?.title === undefined ? {} : { title: first.title }),
    ...(failed === undefined ? {} : { failed_step: failed }),
    ...(first?.seen === undefined ? {} : { seen: first.seen }),
  };
}

/** All values, or the first error once all have settled, so that no work continues after the answer. */
async function settledAll<Value>(work: readonly Promise<Value>[]): Promise<Value[]> {
  const settled = await Promise.allSettled(work);
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
