import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { checkAll } from "../check/check.ts";
import type { Outcome } from "../check/expectation.ts";
import type { Assertion } from "../language/ast.ts";
import { checksOf, type Found, type Script, secretsOf } from "../language/script.ts";
import { reasonOf } from "../library.ts";
import type { EvidenceKind } from "../session/artifacts.ts";
import { Deadline } from "../session/deadline.ts";
import type { Device } from "../session/devices.ts";
import type { PageEvents } from "../session/page-events.ts";
import {
  checkRefusal,
  explained,
  notesOf,
  openSession,
  type PageSession,
  playSteps,
  type SessionServices,
  titleOf,
} from "../session/page-session.ts";
import { type Look, snapshotOf } from "../session/snapshot.ts";
import { type RunFolder, slugOf } from "../store/disk.ts";
import type { CheckResult, RunReport } from "./report.ts";

/** The quiet time before a screenshot, where no check needs a longer one. */
const BRIEF = { quietMs: 40, atMostMs: 500 };

const SLOW_START =
  "The browser did not start in this time: the machine is busy. Run it again, or raise --timeout-ms.";
const LITTLE_TIME =
  "The call had no more time left: it waited for other runs, or its own limit (--timeout-ms) is too short for this page. Run fewer tests at once, or raise that limit.";

export interface DeviceRunOptions {
  readonly url: URL;
  readonly script: Script;
  readonly device: Device;
  /** Whether there are several devices, which names and files then include. */
  readonly matrix: boolean;
  readonly evidence: readonly EvidenceKind[];
  /** From when the page is open. */
  readonly timeoutMs: number;
  /** How much time the call has left. */
  readonly leftMs: () => number;
  readonly signal: AbortSignal;
  /** Asks for a snapshot at the end. */
  readonly look?: Look | undefined;
  readonly found: Found;
  readonly folder: RunFolder;
  readonly part: RunPart | undefined;
  readonly progress: (note: string) => void;
}

/** A run that belongs to a comparison. */
export interface RunPart {
  /** The run whose folder keeps the artifacts. */
  readonly run: string;
  /** The beginning of their names. */
  readonly stem: string;
  /** The page, relative to the URL of the comparison. */
  readonly path: string;
}

type Outcomes = Map<Assertion, Outcome>;
export type DeviceRun = Omit<RunReport, "url" | "durationMs" | "run_id" | "artifacts">;

/**
 * Runs a script on one device: open the page, perform the steps, check the assertions, keep the artifacts.
 *
 * @throws ToolError if there is no verdict: refused, timed out, crashed, no browser.
 */
export async function runOnDevice(
  options: DeviceRunOptions,
  services: SessionServices,
): Promise<DeviceRun> {
  const { url, script, device, matrix, evidence: kinds, signal } = options;
  const named = { script, matrix, device: device.name };
  const stem = slugOf(url.pathname.replace(/\.[a-z]+$/i, ""), "home");
  const artifacts = {
    kinds,
    stem: options.part?.stem ?? (matrix ? `${stem}-${slugOf(device.name, "device")}` : stem),
    writesSecrets: secretsOf(script).length > 0,
    captured: {
      path: options.part?.path ?? "",
      device: device.name,
      steps: script.steps.map((step) => step.text),
    },
  };
  const keepsDownloads = checksOf(script).some(({ kind }) => kind === "download");
  const starting = new Deadline(options.leftMs(), signal, SLOW_START);
  const opening = { ...options, steps: script.steps, artifacts, keepsDownloads };
  const session = await openSession({ ...opening, deadline: starting }, services).finally(
    starting.end,
  );
  options.progress("opening the page");
  const timeoutMs = Math.min(options.timeoutMs, options.leftMs());
  const lateHint = timeoutMs < options.timeoutMs ? LITTLE_TIME : undefined;
  const deadline = new Deadline(timeoutMs, signal, lateHint);
  session.deadline = deadline;
  const outcomes: Outcomes = new Map();
  try {
    return await Promise.race([play(options, session, outcomes), session.ended]);
  } catch (error) {
    const failure = await explained(error, session);
    if (!(failure instanceof ToolError)) throw failure;
    // With the verdicts so far.
    const data = { assertions: resultsOf(named, outcomes, "not decided: the run ended first") };
    throw new ToolError(failure.kind, failure.message, { ...failure, data, cause: failure.cause });
  } finally {
    deadline.end();
    // Wait only if the browser writes files when the context closes: it has what is left of the run's time for them.
    if (session.artifacts.recording() === undefined) void session.opened.close();
    else await session.opened.close(deadline.leftMs);
    await session.artifacts.finish();
  }
}

/** The assertions with their verdicts; `undecided` says why one has none. */
export function resultsOf(
  {
    script,
    matrix,
    device,
  }: Pick<DeviceRunOptions, "script" | "matrix"> & { readonly device: string },
  outcomes: Outcomes,
  undecided: string,
): CheckResult[] {
  return script.assertions.map((assertion) => {
    const { passed, actual } = outcomes.get(assertion) ?? { passed: false, actual: undecided };
    return {
      name: assertion.text,
      passed,
      ...(passed ? {} : { actual: clip(actual, 600) }),
      ...(matrix ? { device } : {}),
    };
  });
}

async function play(
  options: DeviceRunOptions,
  session: PageSession,
  outcomes: Outcomes,
): Promise<DeviceRun> {
  const { opened, events, settling, deadline, artifacts } = session;
  const { script, look, matrix, device, signal, progress } = options;
  const { assertions: wanted, steps } = script;
  await deadline.race(artifacts.begin(opened.context));
  const failed = await playSteps(steps, session, (n) =>
    progress(`step ${n + 1} of ${steps.length}`),
  );
  checkRefusal(session);
  progress(`judging ${wanted.length} assertions`);
  if (failed === undefined) {
    let isSettling = false;
    const waiting = () => {
      isSettling = true;
      artifacts.takeScreenshotEarly(session);
    };
    await checkAll(wanted, session, outcomes, waiting);
    if (!isSettling && artifacts.hasPicture) {
      waiting();
      await settling.settled(deadline, BRIEF);
    }
  }
  checkRefusal(session);
  if (look !== undefined) await settling.settled(deadline);
  const seen = look === undefined ? undefined : await snapshotOf(session, look);
  const named = { script, matrix, device: device.name };
  const assertions = resultsOf(named, outcomes, "not checked: a step failed");
  const passed = failed === undefined && assertions.every((one) => one.passed);
  const { page } = session;
  const naming = page.title();
  naming.catch(() => undefined);
  await artifacts.collect(session, passed).catch((error: unknown) => {
    // A failed screenshot must not lose the verdict.
    const isDecided = failed !== undefined || assertions.length > 0;
    if (!isDecided || signal.aborted || page.isClosed()) throw error;
    artifacts.notes.push(`incomplete evidence: ${reasonOf(error, "the page")}`);
  });
  const title = await titleOf(session, naming);
  const notes = [...errorNotes(events, passed), ...notesOf(session)];
  return {
    assertions,
    passed,
    seen,
    final_url: page.url(),
    status: events.place.response?.status(),
    title: title === "" ? undefined : title,
    failed_step: failed === undefined || !matrix ? failed : `${failed} [${device.name}]`,
    notes: notes.length === 0 ? undefined : notes,
  };
}

/** Uncaught errors; console errors are included if the run failed: they often explain it. */
function errorNotes(events: PageEvents, passed: boolean): string[] {
  const { console, pageErrors } = events;
  const errors = console
    .filter(({ level }) => level === "error" && !passed)
    .map((line) => `console error: ${clip(oneLine(events.said(line)), 500)}`);
  const thrown = pageErrors.map((text) => `uncaught in the page: ${clip(oneLine(text), 300)}`);
  return [...thrown, ...errors].slice(0, 5);
}
