import type { Launched } from "../driver/launch.ts";
import { type Semaphore, semaphoreOf } from "../driver/semaphore.ts";
import { parseTargetUrl, refusedUrl } from "../language/address.ts";
import {
  assertionSentence,
  type Found,
  parseScript,
  type Script,
  secretsOf,
  stepSentence,
} from "../language/script.ts";
import { registerGuard } from "../secrets/guard.ts";
import { type Secrets, SecretsInRun } from "../secrets/secrets.ts";
import type { EvidenceKind } from "../session/artifacts.ts";
import { Contexts, type ContextsOptions } from "../session/contexts.ts";
import { type Calling, workMs } from "../session/deadline.ts";
import { type Device, devicesOf } from "../session/devices.ts";
import type { SessionServices } from "../session/page-session.ts";
import type { NetworkPolicy } from "../session/policy.ts";
import type { Look } from "../session/snapshot.ts";
import type { Done, RunStore } from "../store/runs.ts";
import { failureOf, type RunReport, shownArtifact } from "./report.ts";
import { type DeviceRun, type RunPart, runOnDevice } from "./run.ts";

export interface TesterOptions extends Omit<ContextsOptions, "closeMs"> {
  readonly policy: Pick<NetworkPolicy, "guardFor">;
  readonly runs: RunStore;
  readonly secrets: Secrets;
  readonly readUpload: SessionServices["readUpload"];
  readonly concurrency: number;
  readonly log: (sentence: string) => void;
  readonly stepMs?: number | undefined;
}

export interface RunRequest {
  readonly url: string;
  readonly steps: readonly string[];
  readonly assertions: readonly string[];
  readonly devices: readonly string[];
  readonly evidence: readonly EvidenceKind[];
  readonly timeoutMs: number;
  readonly look?: Look;
  readonly part?: RunPart;
}

interface ParsedTest {
  readonly url: URL;
  readonly script: Script;
  readonly devices: readonly Device[];
}

const BEAT_MS = 5_000;

/** Runs tests in one browser, and stores their artifacts. */
export class Tester {
  readonly contexts: Contexts;
  readonly options: TesterOptions;
  readonly #semaphore: Semaphore;

  constructor(options: TesterOptions) {
    this.options = options;
    this.contexts = new Contexts({ ...options, launch: () => this.#launch() });
    this.#semaphore = semaphoreOf(options.concurrency);
  }

  /** Starts the browser in the background; if that fails, the first run reports why. */
  prewarm(): void {
    this.contexts.prewarm().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : error;
      this.options.log(`the browser was not started ahead: ${reason}`);
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
    const sentences = [request.url, ...request.steps, ...request.assertions];
    const secrets = new SecretsInRun(this.options.secrets, sentences);
    try {
      return await this.#run(request, await this.prepare(request), call, tookMs, secrets);
    } catch (error) {
      throw secrets.redactError(failureOf(error, request, tookMs()));
    }
  }

  /** The dependencies of a run or a session that starts at `url`. */
  async servicesFor(url: URL, secrets: SecretsInRun): Promise<SessionServices> {
    const guard = await this.options.policy.guardFor(url);
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

  async #run(
    request: RunRequest,
    { url, script, devices }: ParsedTest,
    call: Calling,
    tookMs: () => number,
    secrets: SecretsInRun,
  ): Promise<RunReport> {
    const services = await this.servicesFor(url, secrets);
    const { runs } = this.options;
    const { part } = request;
    const folder = part === undefined ? await runs.begin() : runs.resume(part.run);
    const found: Found = new Map();
    const matrix = devices.length > 1;
    let done = 0;
    // Progress that grows with time, to keep a long call alive.
    const report = (note?: string) =>
      call.progress(done + tookMs() / (tookMs() + request.timeoutMs), devices.length, note);
    const beat = setInterval(() => report(), BEAT_MS).unref();
    const runOn = async (device: Device) => {
      const progress = (note: string) => report(matrix ? `${device.name}: ${note}` : note);
      const { evidence, look, timeoutMs } = request;
      const { signal } = call;
      const deviceRun = await runOnDevice(
        {
          url,
          script,
          device,
          matrix,
          evidence,
          look,
          timeoutMs,
          leftMs: () => workMs(call),
          signal,
          folder,
          found,
          part,
          progress,
        },
        services,
      );
      done += 1;
      call.progress(
        done,
        devices.length,
        `${device.name} ${deviceRun.passed ? "passed" : "failed"}`,
      );
      return deviceRun;
    };
    try {
      const { assertions, notes, passed, ...facts } = joined(
        await settledAll(
          devices.map((device) => this.#semaphore.use(call.signal, 1, () => runOn(device))),
        ),
      );
      const artifacts = (await runs.kept(folder)).map(shownArtifact);
      const durationMs = tookMs();
      const answer = (): RunReport => {
        const all = [...folder.notes(), ...notes];
        const shown = { url: request.url, assertions, durationMs, passed, ...facts };
        return {
          // A page may show secrets in its title, URL or texts.
          ...secrets.redactIn({ ...shown, notes: all.length === 0 ? undefined : all }),
          run_id: folder.id,
          artifacts,
        };
      };
      // With the script, so that an inspection can repeat it and a spec can be written from it.
      const sentences = {
        steps: script.steps.map((one) => stepSentence(one, found)),
        assertions: script.assertions.map((one) => assertionSentence(one, found)),
      };
      if (part === undefined)
        await runs.finish<Done>(folder, {
          ...answer(),
          done: { ...sentences, devices: request.devices },
        });
      // Again, since the report's own file may not have been kept.
      return answer();
    } catch (error) {
      if (part === undefined) await runs.drop(folder.id);
      throw error;
    } finally {
      clearInterval(beat);
    }
  }

  /** @throws ToolError `unavailable` if no browser starts. */
  async ready(): Promise<void> {
    await this.contexts.browser();
  }

  async browser(): Promise<Record<string, unknown>> {
    const launched = await this.contexts.browser().catch(() => undefined);
    if (launched?.browser.isConnected() !== true) return { running: false };
    const { browser, from, sandboxed } = launched;
    return { running: true, version: browser.version(), from, sandbox: sandboxed };
  }

  async #launch(): Promise<Launched> {
    const { launch, secrets, log } = this.options;
    const began = performance.now();
    const launched = await launch();
    if (secrets.isUsed) await registerGuard();
    const { browser, from, sandboxed } = launched;
    const ready = `ready in ${Math.round(performance.now() - began)} ms`;
    log(
      `browser ${browser.version()} from ${from} ${ready}${sandboxed ? "" : "; its sandbox is off"}`,
    );
    return launched;
  }
}

/** The runs on all devices as one report; the page's properties are those of the first. */
function joined(deviceRuns: readonly DeviceRun[]) {
  const [first] = deviceRuns;
  return {
    assertions: deviceRuns.flatMap((deviceRun) => deviceRun.assertions),
    passed: deviceRuns.every((deviceRun) => deviceRun.passed),
    notes: [...new Set(deviceRuns.flatMap((deviceRun) => deviceRun.notes ?? []))].slice(0, 10),
    final_url: first?.final_url,
    status: first?.status,
    title: first?.title,
    failed_step: deviceRuns.find((deviceRun) => deviceRun.failed_step !== undefined)?.failed_step,
    seen: first?.seen,
  };
}

/** All values, or the first error once all have settled, so that no work continues after the answer. */
async function settledAll<Value>(work: readonly Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
