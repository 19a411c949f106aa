import { setMaxListeners } from "node:events";
import { startDeadline } from "@refmcp/boundary";
import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import { type Calling, workMs } from "../session/calling.ts";
import type { CheckResult, RunReport } from "./report.ts";
import type { RunRequest } from "./tester.ts";

export interface SuiteTest {
  readonly name: string;
  readonly url: string;
  readonly steps: readonly string[];
  readonly assertions: string[];
}

/** The runner of a suite's tests. */
export interface SuiteTester {
  prepare(request: RunRequest): Promise<unknown>;
  run(request: RunRequest, call: Calling): Promise<RunReport>;
}

export interface SuiteRequest extends Pick<RunRequest, "devices" | "evidence" | "timeoutMs"> {
  readonly tests: readonly SuiteTest[];
  /** Starts no more tests after the first that does not pass. */
  readonly bail: boolean;
}

export interface SuiteEntry {
  readonly name: string;
  readonly passed: boolean;
  readonly durationMs: number;
  readonly run_id?: string;
  readonly failures?: string[];
  readonly screenshot?: string;
}

export interface SuiteReport {
  readonly passed: boolean;
  readonly failed: number;
  readonly not_run: number;
  /** Tests that were not started or not finished: after `bail`, or on timeout. */
  readonly not_run_names?: string[];
  readonly durationMs: number;
  readonly tests: SuiteEntry[];
  readonly artifacts: RunReport["artifacts"];
}

const MAX_FAILURES = 5;
const MAX_LINKS = 20;
const MAX_TESTS = 100;

/**
 * Runs many tests in parallel. All sentences are parsed before the first page is opened, so that a typo in the last
 * test costs nothing.
 */
export async function runSuite(
  tester: SuiteTester,
  request: SuiteRequest,
  call: Calling,
): Promise<SuiteReport> {
  const began = performance.now();
  const { tests, bail } = request;
  if (tests.length > MAX_TESTS)
    throw new ToolError(
      "invalid",
      `There are ${tests.length} tests; at most ${MAX_TESTS} are allowed at once.`,
    );
  const asRun = (test: SuiteTest): RunRequest => ({ ...request, ...test });
  for (const [index, test] of tests.entries()) {
    await tester.prepare(asRun(test)).catch((error: unknown) => {
      if (!(error instanceof ToolError)) throw error;
      const place = `tests[${index}] ${JSON.stringify(test.name)}`;
      throw new ToolError(error.kind, `${place}: ${error.message}`, { ...error });
    });
  }
  // Before the call's own time limit, so that the verdicts so far are returned.
  const { signal, abort, end } = startDeadline(workMs(call), call.signal);
  // Every waiting test adds a listener.
  setMaxListeners(0, signal);
  let done = 0;
  let artifacts: NonNullable<RunReport["artifacts"]> = [];
  const entries = await Promise.all(
    tests.map(async (test): Promise<SuiteEntry | undefined> => {
      const outcome = await entryOf(tester, asRun(test), test.name, signal);
      call.signal.throwIfAborted();
      if (outcome === undefined) return undefined;
      const [entry, report] = outcome;
      done += 1;
      call.progress(done, tests.length, `${entry.name} ${entry.passed ? "passed" : "failed"}`);
      if (!entry.passed)
        artifacts = [...artifacts, ...(report?.artifacts ?? []).filter(({ name }) => name !== "report.json")];
      if (!entry.passed && bail) abort(BAILED);
      return entry;
    }),
  ).finally(end);
  const run = entries.filter((entry) => entry !== undefined);
  const passed = run.filter((entry) => entry.passed).length;
  return {
    passed: passed === tests.length,
    failed: run.length - passed,
    not_run: tests.length - run.length,
    ...(run.length === tests.length
      ? {}
      : { not_run_names: tests.flatMap(({ name }, n) => (entries[n] === undefined ? [name] : [])) }),
    durationMs: Math.round(performance.now() - began),
    tests: run,
    artifacts: artifacts.slice(0, MAX_LINKS),
  };
}

const BAILED = new ToolError("cancelled", "An earlier test of the suite failed.");

/** The outcome of one test; undefined if the suite was stopped first. */
async function entryOf(
  tester: SuiteTester,
  request: RunRequest,
  name: string,
  signal: AbortSignal,
): Promise<[SuiteEntry, RunReport | undefined] | undefined> {
  const began = performance.now();
  try {
    const report = await tester.run(request, {
      signal,
      leftMs: Number.POSITIVE_INFINITY,
      progress: () => undefined,
    });
    const failures = failuresOf(report);
    const screenshot = report.artifacts?.find(({ mime_type: type }) => type === "image/png")?.path;
    return [
      {
        name,
        passed: report.passed,
        durationMs: report.durationMs,
        ...(report.run_id === undefined ? {} : { run_id: report.run_id }),
        ...(failures.length === 0 ? {} : { failures }),
        ...(screenshot === undefined || report.passed ? {} : { screenshot }),
      },
      report,
    ];
  } catch (error) {
    if (signal.aborted) return undefined;
    // Without a browser no test can run; any other error ends only its own test.
    if (error instanceof ToolError && error.code === "no_browser") throw error;
    const durationMs = Math.round(performance.now() - began);
    const failure = error instanceof Error ? error.message : String(error);
    return [{ name, passed: false, durationMs, failures: [oneLine(clip(failure, 600))] }, undefined];
  }
}

function failuresOf({ assertions, failed_step: step }: RunReport): string[] {
  const failed = assertions.filter(({ passed }) => !passed).map(lineOf);
  const lines = step === undefined ? failed : [step];
  const more = lines.length - MAX_FAILURES;
  return more > 0 ? [...lines.slice(0, MAX_FAILURES), `and ${more} more`] : lines;
}

const lineOf = ({ name, actual, device }: CheckResult) =>
  `${name}${device === undefined ? "" : ` [${device}]`}${actual === undefined ? "" : `: ${actual}`}`;

/** A report that fits into `budget` characters, as structure and as text. */
export function fittingSuite(report: SuiteReport, budget: number): SuiteReport {
  let fit = report;
  for (const [failures, chars] of [
    [3, 300],
    [1, 150],
    [1, 60],
    [0, 0],
  ] as const) {
    if (Math.max(JSON.stringify(fit).length, suiteText(fit).length) <= budget) return fit;
    const short = (text: string, max: number) => (text.length > max ? `${clip(text, max)}…` : text);
    const tests = fit.tests.map(({ failures: all, ...test }) => ({
      ...test,
      name: short(test.name, 100),
      ...(all === undefined || failures === 0
        ? {}
        : { failures: all.slice(0, failures).map((line) => short(line, chars)) }),
    }));
    fit = { ...fit, tests, artifacts: (fit.artifacts ?? []).slice(0, 5) };
  }
  return { ...fit, tests: fit.tests.map(({ screenshot: _, ...test }) => test), artifacts: [] };
}

/** The answer for people. */
export function suiteText(report: SuiteReport): string {
  const { passed, failed, not_run: notRun, durationMs, tests, artifacts = [] } = report;
  const rest = notRun > 0 ? `, ${notRun} not run` : "";
  const head = passed
    ? `All ${tests.length} tests passed in ${durationMs} ms.`
    : `${failed} of ${tests.length + notRun} tests FAILED${rest}, in ${durationMs} ms:`;
  const lines = tests.flatMap((test) => [
    `${test.passed ? "✓" : "✗"} ${test.name} (${test.durationMs} ms${test.run_id === undefined ? "" : `, run ${test.run_id}`})`,
    ...(test.failures ?? []).map((line) => `    ${line}`),
    ...(test.screenshot === undefined ? [] : [`    ${test.screenshot}`]),
  ]);
  const shown = new Set(tests.map(({ screenshot }) => screenshot));
  const others = artifacts.filter(({ path }) => !shown.has(path)).map(({ path }) => path);
  const names = report.not_run_names ?? [];
  const missing =
    names.length === 0 ? [] : [`not run: ${names.map((name) => oneLine(clip(name, 60))).join(", ")}`];
  return [head, ...lines, ...missing, ...others].join("\n");
}
