import { setMaxListeners } from "node:events";
import { startDeadline } from "@refmcp/boundary";
import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { type Calling, workMs } from "../session/deadline.ts";
import { type CheckResult, fits, type RunReport, shortened } from "./report.ts";
import type { RunRequest } from "./tester.ts";

type SuiteTest = Pick<RunRequest, "url" | "steps" | "assertions"> & { readonly name: string };

interface SuiteTester {
  prepare(request: RunRequest): Promise<unknown>;
  run(request: RunRequest, call: Calling): Promise<RunReport>;
}

interface SuiteRequest extends Pick<RunRequest, "devices" | "evidence" | "timeoutMs"> {
  readonly tests: readonly SuiteTest[];
  /** Starts no more tests after the first that does not pass. */
  readonly bail: boolean;
}

const entry = z.object({
  name: z.string(),
  passed: z.boolean(),
  durationMs: z.number(),
  run_id: z.string().optional(),
  failures: z.array(z.string()).optional(),
  screenshot: z.string().optional(),
});

/** A suite's answer; `not_run`: tests that were not started or not finished, after `bail` or on timeout. */
export const suiteReport = z.object({
  passed: z.boolean(),
  failed: z.number(),
  not_run: z.number(),
  not_run_names: z.array(z.string()).optional(),
  durationMs: z.number(),
  tests: z.array(entry),
});
type SuiteEntry = z.infer<typeof entry>;
interface SuiteReport extends z.infer<typeof suiteReport> {
  readonly artifacts: NonNullable<RunReport["artifacts"]>;
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
  const artifacts: SuiteReport["artifacts"] = [];
  const entries = await Promise.all(
    tests.map(async (test) => {
      const [entry, kept = []] = await entryOf(tester, asRun(test), test.name, signal);
      call.signal.throwIfAborted();
      if (entry === undefined) return undefined;
      done += 1;
      call.progress(done, tests.length, `${entry.name} ${entry.passed ? "passed" : "failed"}`);
      if (!entry.passed) artifacts.push(...kept.filter(({ name }) => name !== "report.json"));
      if (!entry.passed && bail) abort(BAILED);
      return entry;
    }),
  ).finally(end);
  const run = entries.filter((entry) => entry !== undefined);
  const passed = run.filter((entry) => entry.passed).length;
  const notRun = tests.flatMap(({ name }, n) => (entries[n] === undefined ? [name] : []));
  return {
    passed: passed === tests.length,
    failed: run.length - passed,
    not_run: notRun.length,
    not_run_names: notRun.length === 0 ? undefined : notRun,
    durationMs: Math.round(performance.now() - began),
    tests: run,
    artifacts: artifacts.slice(0, MAX_LINKS),
  };
}

const BAILED = new ToolError("cancelled", "An earlier test of the suite failed.");

/** The outcome of one test and its artifacts; nothing if the suite was stopped first. */
async function entryOf(
  tester: SuiteTester,
  request: RunRequest,
  name: string,
  signal: AbortSignal,
): Promise<[SuiteEntry?, RunReport["artifacts"]?]> {
  const began = performance.now();
  try {
    const call = { signal, leftMs: Number.POSITIVE_INFINITY, progress: () => undefined };
    const { passed, durationMs, run_id, artifacts, ...report } = await tester.run(request, call);
    const failures = failuresOf(report);
    const screenshot = passed
      ? undefined
      : artifacts?.find(({ mime_type: type }) => type === "image/png")?.path;
    const shown = failures.length === 0 ? undefined : failures;
    return [{ name, passed, durationMs, run_id, failures: shown, screenshot }, artifacts];
  } catch (error) {
    if (signal.aborted) return [];
    // Without a browser no test can run; any other error ends only its own test.
    if (error instanceof ToolError && error.code === "no_browser") throw error;
    const durationMs = Math.round(performance.now() - began);
    const failure = error instanceof Error ? error.message : String(error);
    return [{ name, passed: false, durationMs, failures: [oneLine(clip(failure, 600))] }];
  }
}

function failuresOf({
  assertions,
  failed_step: step,
}: Pick<RunReport, "assertions" | "failed_step">): string[] {
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
  for (const [count, chars] of [
    [3, 300],
    [1, 150],
    [1, 60],
    [0, 0],
  ] as const) {
    if (fits(fit, suiteText(fit), budget)) return fit;
    const tests = fit.tests.map(({ failures, ...test }) => ({
      ...test,
      name: shortened(test.name, 100),
      failures:
        count === 0 ? undefined : failures?.slice(0, count).map((line) => shortened(line, chars)),
    }));
    fit = { ...fit, tests, artifacts: fit.artifacts.slice(0, 5) };
  }
  return { ...fit, tests: fit.tests.map(({ screenshot: _, ...test }) => test), artifacts: [] };
}

/** The answer for people. */
export function suiteText(report: SuiteReport): string {
  const {
    passed,
    failed,
    not_run: notRun,
    durationMs,
    tests,
    artifacts,
    not_run_names: names,
  } = report;
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
  const missing = names?.map((name) => oneLine(clip(name, 60))).join(", ");
  return [
    head,
    ...lines,
    ...(missing === undefined ? [] : [`not run: ${missing}`]),
    ...others,
  ].join("\n");
}
