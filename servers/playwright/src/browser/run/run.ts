import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { checkAll } from "../check/check.ts";
import type { Outcome } from "../check/expectation.ts";
import { type Calling, Deadline, workMs } from "../deadline.ts";
import type { Device } from "../devices.ts";
import { type Assertion, checksOf, type Script, secretsOf } from "../language/sentences.ts";
import { reasonOf } from "../library.ts";
import type { EvidenceKind } from "../page/artifacts.ts";
import type { PageEvents } from "../page/events.ts";
import {
  checkRefusal,
  explained,
  notesOf,
  openSession,
  type PageSession,
  playSteps,
  type SessionServices,
  titleOf,
} from "../page/session.ts";
import { type Look, snapshotOf } from "../page/snapshot.ts";
import { type RunFolder, slugOf } from "../store/disk.ts";
import type { CheckResult, RunReport } from "./report.ts";

/** The quiet time before a screenshot, where no check needs a longer one. */
const BRIEF = { quietMs: 40, atMostMs: 500 };

const SLOW_START =
  "The browser did not start in this time: the machine is busy. Run it again, or raise --timeout-ms.";

const WAITED =
  "The call had no more time left: it waited for other runs, or its own limit (--timeout-ms) is too short for this page. Run fewer tests at once, or raise that limit.";

/** A test, as the caller asked for it. */
export interface RunRequest {
  readonly url: string;
  readonly steps: readonly string[];
  readonly assertions: readonly string[];
  readonly devices: readonly string[];
  readonly evidence: readonly EvidenceKind[];
  /** From when the page is open. */
  readonly timeoutMs: number;
  /** Asks for a snapshot at the end. */
  readonly look?: Look;
}

/** What it means. */
export interface ParsedTest {
  readonly url: URL;
  readonly script: Script;
  readonly devices: readonly Device[];
}

export interface DeviceRunOptions {
  readonly request: RunRequest;
  readonly test: ParsedTest;
  readonly device: Device;
  readonly call: Calling;
  readonly folder: RunFolder;
  readonly progress: (note: string) => void;
  /** Called on the page at the end, unless a step failed. */
  readonly visit?: (session: PageSession) => Promise<void>;
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
  const { request, test, device, call, folder } = options;
  const { url, script, devices } = test;
  const { evidence: kinds } = request;
  const name = slugOf(url.pathname.replace(/\.[a-z]+$/i, ""), "home");
  const stem = devices.length > 1 ? `${name}-${slugOf(device.name, "device")}` : name;
  if (secretsOf(script).length > 0) services.secrets.use();
  const starting = new Deadline(workMs(call), call.signal, SLOW_START);
  const opening = openSession(
    {
      ...{ url, device, folder, deadline: starting },
      artifacts: { kinds, stem },
      keepsDownloads: checksOf(script).some(({ kind }) => kind === "download"),
    },
    services,
  );
  const session = await opening.finally(starting.end);
  options.progress("opening the page");
  const leftMs = workMs(call);
  const hint = leftMs < request.timeoutMs ? WAITED : undefined;
  const deadline = new Deadline(Math.min(request.timeoutMs, leftMs), call.signal, hint);
  session.deadline = deadline;
  const outcomes: Outcomes = new Map();
  try {
    return await Promise.race([play(options, session, outcomes), session.ended]);
  } catch (error) {
    const failure = await explained(error, session);
    if (!(failure instanceof ToolError)) throw failure;
    // With the verdicts so far.
    const undecided = "not decided: the run ended first";
    const assertions = resultsOf(script, outcomes, undecided, columnOf(options));
    const { kind, message, cause } = failure;
    throw new ToolError(kind, message, { ...failure, data: { assertions }, cause });
  } finally {
    deadline.end();
    // Wait only if the browser writes files when the context closes: it has what is left of the run's time for them.
    if (session.artifacts.recording() === undefined) void session.opened.close();
    else await session.opened.close(deadline.leftMs);
    await session.artifacts.finish();
  }
}

/** The device's name, where there are several. */
const columnOf = ({ test, device }: DeviceRunOptions) =>
  test.devices.length > 1 ? device.name : undefined;

/** The assertions with their verdicts; `undecided` says why one has none. */
export function resultsOf(
  { assertions }: Script,
  outcomes: Outcomes,
  undecided: string,
  device?: string,
): CheckResult[] {
  return assertions.map((assertion) => {
    const { passed, actual } = outcomes.get(assertion) ?? { passed: false, actual: undecided };
    return {
      name: assertion.text,
      passed,
      ...(passed ? {} : { actual: clip(actual, 600) }),
      ...(device === undefined ? {} : { device }),
    };
  });
}

async function play(
  options: DeviceRunOptions,
  session: PageSession,
  outcomes: Outcomes,
): Promise<DeviceRun> {
  const { opened, events, settling, deadline, artifacts, page } = session;
  const { request, test, call, progress } = options;
  const { look } = request;
  const { script } = test;
  const column = columnOf(options);
  await deadline.race(artifacts.begin(opened.context));
  const failed = await playSteps(script.steps, session, (n) =>
    progress(`step ${n + 1} of ${script.steps.length}`),
  );
  checkRefusal(session);
  progress(`judging ${script.assertions.length} assertions`);
  const isSettled = failed === undefined && (await checkAll(script.assertions, session, outcomes));
  checkRefusal(session);
  if (look !== undefined) await settling.settled(deadline);
  else if (!isSettled && artifacts.hasPicture) await settling.settled(deadline, BRIEF);
  const seen = look === undefined ? undefined : await snapshotOf(session, look);
  if (failed === undefined) await options.visit?.(session);
  const assertions = resultsOf(script, outcomes, "not checked: a step failed", column);
  const passed = failed === undefined && assertions.every((result) => result.passed);
  await artifacts.collect(session, passed).catch((error: unknown) => {
    // A failed screenshot must not lose the verdict.
    const isDecided = failed !== undefined || assertions.length > 0;
    if (!isDecided || call.signal.aborted || page.isClosed()) throw error;
    artifacts.notes.push(`incomplete evidence: ${reasonOf(error, "the page")}`);
  });
  const title = await titleOf(session);
  const notes = [...errorNotes(events, passed), ...notesOf(session)];
  return {
    ...{ assertions, passed, seen },
    final_url: session.page.url(),
    status: events.place.response?.status(),
    title: title === "" ? undefined : title,
    failed_step: failed === undefined || column === undefined ? failed : `${failed} [${column}]`,
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
