import { clip, oneLine, ToolError } from "@refmcp/core/answer";
import type { NetworkGuard } from "@refmcp/core/forward-proxy";
import type { Locator } from "playwright";
import { type Assertion, setupLength } from "../language/ast.ts";
import { contextOptionsOf } from "../language/plan.ts";
import { checksOf, type Script, secretsOf } from "../language/script.ts";
import type { BaselineStore } from "../store/baselines.ts";
import type { StateStore } from "../store/states.ts";
import type { ContextPool, TestContext } from "./context.ts";
import { Deadline } from "./deadline.ts";
import { type Device, slugOf } from "./devices.ts";
import { Downloads } from "./downloads.ts";
import { Evidence, type EvidenceKind } from "./evidence.ts";
import type { Outcome } from "./expectation.ts";
import { judgeAll, until } from "./judge.ts";
import { arrive, browserGone, endOf, recordOf, refusalOf } from "./navigate.ts";
import { Quiet } from "./quiet.ts";
import type { PageRecord } from "./record.ts";
import type { CheckResult, RunReport } from "./report.ts";
import type { Secrets } from "./secrets.ts";
import { snapshotOf } from "./snapshot.ts";
import { perform, reasonOf, StepFailed } from "./steps.ts";

/** What a run on one device needs. */
export interface DeviceRunOptions {
  readonly url: URL;
  readonly script: Script;
  readonly device: Device;
  /** More than one device: names and files say which. */
  readonly matrix: boolean;
  readonly evidence: readonly EvidenceKind[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Looks at the page at the end: the most targets and characters. */
  readonly look?: Look | undefined;
  /** The run's folder. */
  readonly folder: string;
  readonly progress: (note: string) => void;
}

/** What the server has for every run. */
export interface RunServices {
  readonly contexts: ContextPool;
  /** What this run may reach. */
  readonly guard: NetworkGuard;
  readonly baselines: BaselineStore;
  readonly states: StateStore;
  readonly secrets: Secrets;
  /** The longest that one action of a step waits for its element. */
  readonly stepMs?: number | undefined;
  readonly readUpload: (path: string) => Promise<Upload>;
}

/** A file for an upload. */
export interface Upload {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

export interface Look {
  readonly limit: number;
  readonly budget: number;
}

export type DeviceRun = Omit<RunReport, "url" | "durationMs" | "run_id" | "artifacts">;

/**
 * Runs a script on one device: go there, do the steps, judge the assertions, keep the evidence.
 *
 * @throws ToolError where the run did not come to a verdict: refused, timed out, crashed, no browser.
 */
export async function runOnDevice(options: DeviceRunOptions, runServices: RunServices): Promise<DeviceRun> {
  const { folder, signal, matrix } = options;
  const device = arranged(options.device, options.script);
  const deadline = new Deadline(options.timeoutMs, signal);
  const stem = slugOf(options.url.pathname.replace(/\.[a-z]+$/i, ""), "home");
  const evidence = new Evidence({
    kinds: options.evidence,
    folder,
    stem: matrix ? `${stem}-${slugOf(device.name, "device")}` : stem,
    secrets: runServices.secrets,
    writesSecrets: secretsOf(options.script).length > 0,
  });
  const opening = openContext(runServices, device, evidence);
  const opened = await deadline.race(opening).catch((error: unknown) => {
    deadline.end();
    // A context that comes too late is not left open.
    opening.then((late) => late.close()).catch(() => undefined);
    throw error;
  });
  const state: State = {
    ...options,
    runServices,
    opened,
    deadline,
    evidence,
    secretFields: [],
    outcomes: new Map(),
  };
  try {
    const record = recordOf(opened);
    return await Promise.race([play(state, record), endOf(options.url, opened, record)]);
  } catch (error) {
    throw explained(error, state);
  } finally {
    deadline.end();
    const closing = opened.close();
    // What the browser writes at the end of a context is waited for; otherwise the answer need not wait.
    if (evidence.recording() !== undefined) await closing;
    await evidence.finish();
  }
}

/** A device with what the script's first steps ask of its context. */
function arranged(device: Device, { steps }: Script): Device {
  const asked = contextOptionsOf(steps);
  if (Object.keys(asked).length === 0) return device;
  return { ...device, options: { ...device.options, ...asked }, isDefault: false };
}

/** A context that records what was asked for; without a video where the part that makes it is missing. */
async function openContext(
  { contexts, guard }: RunServices,
  device: Device,
  evidence: Evidence,
): Promise<TestContext> {
  try {
    return await contexts.open({ device, guard, recording: evidence.recording() });
  } catch (error) {
    if (!(error instanceof Error && /ffmpeg/i.test(error.message))) throw error;
    evidence.forgoVideo("no video: Playwright's ffmpeg is missing (npx playwright install ffmpeg)");
    return contexts.open({ device, guard, recording: evidence.recording() });
  }
}

interface State extends Omit<DeviceRunOptions, "evidence"> {
  readonly runServices: RunServices;
  readonly opened: TestContext;
  readonly deadline: Deadline;
  readonly evidence: Evidence;
  readonly secretFields: Locator[];
  /** Verdicts up to now. */
  readonly outcomes: Map<Assertion, Outcome>;
}

/** The assertions with their verdicts; `undecided` says why one has none. */
function resultsOf({ script, outcomes, matrix, device }: State, undecided: string): CheckResult[] {
  return script.assertions.map((assertion) => {
    const { passed, actual } = outcomes.get(assertion) ?? { passed: false, actual: undecided };
    return {
      name: assertion.text,
      passed,
      ...(passed ? {} : { actual: clip(actual, 600) }),
      ...(matrix ? { device: device.name } : {}),
    };
  });
}

async function play(state: State, record: PageRecord): Promise<DeviceRun> {
  const { opened, deadline, evidence, script, runServices, device, folder, secretFields, signal } = state;
  record.downloads = new Downloads(opened.context, {
    folder,
    stem: evidence.stem,
    secrets: runServices.secrets,
    isKept: checksOf(script).some(({ kind }) => kind === "download"),
  });
  await deadline.race(evidence.begin(opened.context));
  const quiet = new Quiet(opened.page, record, deadline);
  const judging = {
    get page() {
      return record.page;
    },
    record,
    quiet,
    deadline,
    baselines: runServices.baselines,
    device: device.name,
    folder,
    secretFields,
  };
  const waitUntil = (assertion: Assertion) => until(assertion, judging);
  const setup = setupLength(script.steps);
  let failedStep = await steps(state, record, quiet, waitUntil, 0, setup);
  if (failedStep === undefined) {
    await arrive(state.url, opened, record, deadline);
    failedStep = await steps(state, record, quiet, waitUntil, setup, script.steps.length);
  }
  refusalOf(record, opened);
  state.progress(`judging ${script.assertions.length} assertions`);
  if (failedStep === undefined)
    await judgeAll(script.assertions, judging, state.outcomes, () =>
      evidence.photographEarly({ page: record.page, deadline, secretFields }),
    );
  refusalOf(record, opened);
  const { look } = state;
  if (look !== undefined) await quiet.settled();
  const seen =
    look === undefined ? {} : { seen: await snapshotOf(record, deadline, look.limit, look.budget) };
  const assertions = resultsOf(state, "not checked: a step failed");
  const passed = failedStep === undefined && assertions.every((one) => one.passed);
  const { page } = record;
  await evidence.collect({ page, record, deadline, passed, secretFields }).catch((error: unknown) => {
    // A verdict that is there is not lost with its picture.
    const isDecided = failedStep !== undefined || assertions.length > 0;
    if (!isDecided || signal.aborted || page.isClosed()) throw error;
    evidence.notes.push(`incomplete evidence: ${reasonOf(error, "the page")}`);
  });
  const title = await deadline.within(1_000, page.title()).catch(() => undefined);
  const status = record.place.response?.status();
  const notes = [
    ...consoleLines(record, passed),
    ...record.notes,
    ...evidence.notes,
    ...[...record.tabs.notes(), ...(record.downloads?.notes() ?? [])].map((text) => oneLine(text)),
    ...record.dialogs.slice(0, 5).map(({ type, message }) => `dialog ${type}: ${oneLine(message)}`),
  ];
  return {
    assertions,
    passed,
    ...seen,
    final_url: page.url(),
    ...(status === undefined ? {} : { status }),
    ...(title === undefined || title === "" ? {} : { title: clip(oneLine(title), 200) }),
    ...(failedStep === undefined
      ? {}
      : { failed_step: state.matrix ? `${failedStep} [${device.name}]` : failedStep }),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

/** Does the steps from one to another, up to the first that fails. */
async function steps(
  state: State,
  record: PageRecord,
  quiet: Quiet,
  waitUntil: (assertion: Assertion) => ReturnType<typeof until>,
  from: number,
  to: number,
): Promise<string | undefined> {
  const { opened, deadline, runServices, evidence, script, secretFields } = state;
  const scope = {
    get page() {
      return record.page;
    },
    record,
    states: runServices.states,
    quiet,
    deadline,
    stepMs: runServices.stepMs,
    secrets: runServices.secrets,
    guard: runServices.guard,
    file: runServices.readUpload,
    until: waitUntil,
    screenshot: (name: string | undefined, of: Locator | undefined) =>
      evidence.photograph({ page: record.page, deadline, name, of, secretFields }),
    secretFields,
  };
  for (const [index, step] of script.steps.entries()) {
    if (index < from || index >= to) continue;
    state.progress(`step ${index + 1} of ${script.steps.length}`);
    try {
      await deadline.race(perform(step, scope));
      refusalOf(record, opened);
    } catch (error) {
      refusalOf(record, opened);
      if (error instanceof ToolError) throw error;
      const reason = error instanceof StepFailed ? error.message : reasonOf(error, "the page");
      return `${oneLine(clip(step.text, 300))}: ${clip(reason, 600)}`;
    }
  }
  return undefined;
}

/** Console errors are shown where the verdict is bad: they often say why. */
function consoleLines(record: PageRecord, passed: boolean): string[] {
  if (passed) return [];
  const errors = record.console
    .filter(({ level }) => level === "error")
    .map(({ text }) => `console error: ${clip(oneLine(text), 300)}`);
  const thrown = record.pageErrors.map((text) => `uncaught in the page: ${clip(oneLine(text), 300)}`);
  return [...thrown, ...errors].slice(0, 5);
}

/** An error of a run, with the verdicts up to then. */
function explained(error: unknown, state: State): ToolError {
  const data = { assertions: resultsOf(state, "not decided: the run ended first") };
  const isGone = state.opened.context.browser()?.isConnected() !== true;
  const known = error instanceof ToolError ? error : isGone ? browserGone(error) : undefined;
  if (known !== undefined)
    return new ToolError(known.kind, known.message, { ...known, data, cause: known.cause });
  if (state.deadline.signal.aborted)
    return new ToolError("timeout", state.deadline.error(state.signal).message, { data, cause: error });
  // What is no error of Playwright is a fault of ours.
  if (!(error instanceof Error) || !/^(?:Timeout)?Error$/.test(error.name)) throw error;
  return new ToolError("unavailable", `The page could not be tested: ${reasonOf(error, "the page")}.`, {
    hint: "A page that is busy or reloads itself all the time does this. Raise timeout_ms, or check less in one run.",
    data,
    cause: error,
  });
}
