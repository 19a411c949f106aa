import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { type Assertion, setupLength } from "../language/ast.ts";
import type { Found } from "../language/explicit.ts";
import { checksOf, type Script, secretsOf } from "../language/script.ts";
import type { RunFolder } from "../store/disk.ts";
import {
  type Acting,
  arranged,
  explained,
  judgingOf,
  notesOf,
  openContext,
  performAll,
  type RunServices,
} from "./acting.ts";
import { Deadline } from "./deadline.ts";
import { type Device, slugOf } from "./devices.ts";
import { Downloads } from "./downloads.ts";
import { Evidence, type EvidenceKind } from "./evidence.ts";
import type { Outcome } from "./expectation.ts";
import { judgeAll } from "./judge.ts";
import { arrive, endOf, recordOf, refusalOf } from "./navigate.ts";
import { Quiet } from "./quiet.ts";
import type { PageRecord } from "./record.ts";
import type { CheckResult, RunReport } from "./report.ts";
import { snapshotOf } from "./snapshot.ts";
import { reasonOf } from "./steps.ts";

/** The quiet time before a screenshot, where no check needs a longer one. */
const BRIEF = { quietMs: 40, atMostMs: 500 };

/** The input of a run on one device. */
export interface DeviceRunOptions {
  readonly url: URL;
  readonly script: Script;
  readonly device: Device;
  /** Whether there are several devices, which names and files then include. */
  readonly matrix: boolean;
  readonly evidence: readonly EvidenceKind[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Limits of the snapshot at the end: maximum targets and characters. */
  readonly look?: Look | undefined;
  /** How bare quoted texts were resolved. */
  readonly found: Found;
  readonly folder: RunFolder;
  readonly progress: (note: string) => void;
}

export interface Look {
  readonly limit: number;
  readonly budget: number;
}

export type DeviceRun = Omit<RunReport, "url" | "durationMs" | "run_id" | "artifacts">;

/**
 * Runs a script on one device: open the page, perform the steps, check the assertions, keep the evidence.
 *
 * @throws ToolError if there is no verdict: refused, timed out, crashed, no browser.
 */
export async function runOnDevice(options: DeviceRunOptions, runServices: RunServices): Promise<DeviceRun> {
  const { folder, signal, matrix, script, found } = options;
  const device = arranged(options.device, script.steps);
  const deadline = new Deadline(options.timeoutMs, signal);
  const stem = slugOf(options.url.pathname.replace(/\.[a-z]+$/i, ""), "home");
  const evidence = new Evidence({
    kinds: options.evidence,
    folder,
    stem: matrix ? `${stem}-${slugOf(device.name, "device")}` : stem,
    secrets: runServices.secrets,
    writesSecrets: secretsOf(script).length > 0,
  });
  const opening = openContext(runServices, device, evidence);
  const opened = await deadline.race(opening).catch((error: unknown) => {
    deadline.end();
    // A context that is created too late is closed.
    opening.then((late) => late.close()).catch(() => undefined);
    throw error;
  });
  const record = recordOf(opened);
  const quiet = new Quiet(opened.page, record, deadline);
  const acting: Acting = {
    ...{ runServices, opened, record, quiet, deadline, device, folder, evidence, found },
  };
  const state: State = { ...options, ...acting, outcomes: new Map() };
  try {
    return await Promise.race([play(state), endOf(options.url, opened, record)]);
  } catch (error) {
    const failure = explained(error, state);
    if (!(failure instanceof ToolError)) throw failure;
    // With the verdicts so far.
    const data = { assertions: resultsOf(state, "not decided: the run ended first") };
    throw new ToolError(failure.kind, failure.message, { ...failure, data, cause: failure.cause });
  } finally {
    deadline.end();
    const closing = opened.close();
    // Wait only if the browser writes files when the context closes.
    if (evidence.recording() !== undefined) await closing;
    await evidence.finish();
  }
}

interface State extends Acting, Omit<DeviceRunOptions, "evidence" | "device"> {
  /** Verdicts so far. */
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

async function play(state: State): Promise<DeviceRun> {
  const { opened, record, quiet, deadline, evidence, script, runServices, folder, signal } = state;
  const { assertions: wanted, steps } = script;
  record.downloads = new Downloads(opened.context, {
    folder,
    stem: evidence.stem,
    secrets: runServices.secrets,
    isKept: checksOf(script).some(({ kind }) => kind === "download"),
  });
  await deadline.race(evidence.begin(opened.context));
  const setup = setupLength(steps);
  const performed = (from: number, to?: number) =>
    performAll(steps.slice(from, to), state, (index) =>
      state.progress(`step ${from + index + 1} of ${steps.length}`),
    );
  let failedStep = await performed(0, setup);
  if (failedStep === undefined) {
    await arrive(state.url, opened, record, deadline);
    failedStep = await performed(setup);
  }
  refusalOf(record, opened);
  state.progress(`judging ${wanted.length} assertions`);
  if (failedStep === undefined) {
    let isSettling = false;
    const waiting = () => {
      isSettling = true;
      evidence.takeScreenshotEarly({ page: record.page, record, deadline });
    };
    await judgeAll(wanted, judgingOf(state), state.outcomes, waiting);
    if (!isSettling && evidence.hasPicture) {
      waiting();
      await quiet.settled(BRIEF);
    }
  }
  refusalOf(record, opened);
  const { look } = state;
  if (look !== undefined) await quiet.settled();
  const seen =
    look === undefined ? {} : { seen: await snapshotOf(record, deadline, look.limit, look.budget) };
  const assertions = resultsOf(state, "not checked: a step failed");
  const passed = failedStep === undefined && assertions.every((one) => one.passed);
  const { page } = record;
  const naming = deadline.within(1_000, page.title()).catch(() => undefined);
  await evidence.collect({ page, record, deadline, passed }).catch((error: unknown) => {
    // A failed screenshot must not lose the verdict.
    const isDecided = failedStep !== undefined || assertions.length > 0;
    if (!isDecided || signal.aborted || page.isClosed()) throw error;
    evidence.notes.push(`incomplete evidence: ${reasonOf(error, "the page")}`);
  });
  const title = await naming;
  const status = record.place.response?.status();
  const notes = [...consoleLines(record, passed), ...notesOf(state)];
  return {
    assertions,
    passed,
    ...seen,
    final_url: page.url(),
    ...(status === undefined ? {} : { status }),
    ...(title === undefined || title === "" ? {} : { title: clip(oneLine(title), 200) }),
    ...(failedStep === undefined
      ? {}
      : { failed_step: state.matrix ? `${failedStep} [${state.device.name}]` : failedStep }),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

/** Console errors are included if the run failed: they often explain it. */
function consoleLines(record: PageRecord, passed: boolean): string[] {
  if (passed) return [];
  const errors = record.console
    .filter(({ level }) => level === "error")
    .map(({ text }) => `console error: ${clip(oneLine(text), 300)}`);
  const thrown = record.pageErrors.map((text) => `uncaught in the page: ${clip(oneLine(text), 300)}`);
  return [...thrown, ...errors].slice(0, 5);
}
