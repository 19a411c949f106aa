import { setMaxListeners } from "node:events";
import { startDeadline } from "@refmcp/boundary";
import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { type Calling, workMs } from "../deadline.ts";
import type { CheckResult, RunReport } from "./report.ts";
import type { RunRequest } from "./run.ts";

type SuiteTest = Pick<RunRequest, "url" | "steps" | "assertions"> & { readonly name: string };

interface SuiteTester {
  prepare(request: RunRequest): Promise<unknown>;
  run(request: RunRequest, call: Calling): Promise<RunReport>;
}

interface SuiteRequest extends Pick<RunRequest, "devices" | "evidence" | "timeoutMs"> {
  readonly tests: readonly SuiteTest[];
}

const entry = z.object({
  name: z.string(),
  passed: z.boolean(),
  durationMs: z.number(),
  run_id: z.string().optional(),
  failures: z.array(z.string()).optional(),
  screenshot: z.string().optional(),
});

/** A suite's answer; `not_run`: tests that were not started or not finished in time. */
export const suiteReport = z.object({
  passed: z.boolean(),
  failed: z.number(),
  not_run: z.number(),
  durationMs: z.number(),
  tests: z.array(entry),
  notes: z.array(z.string()).optional(),
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
  const { tests } = request;
  if (tests.length > MAX_TESTS)
    throw new ToolError("invalid", `At most ${MAX_TESTS} tests are allowed at once.`);
  const asRun = (test: SuiteTest): RunRequest => ({ ...request, ...test });
  for (const [index, test] of tests.entries()) {
    await tester.prepare(asRun(test)).catch((error: unknown) => {
      if (!(error instanceof ToolError)) throw error;
      const place = `tests[${index}] ${JSON.stringify(test.name)}`;
      throw new ToolError(error.kind, `${place}: ${error.message}`, { ...error });
    });
  }
  // Before the call's own time limit, so that the verdicts so far are returned.
  const { signal, end } = startDeadline(workMs(call), call.signal);
  // Every waiting test adds a listener.
  setMaxListeners(0, signal);
  let done = 0;
  const entries = await Promise.all(
    tests.map(async (test) => {
      const entry = await entryOf(tester, asRun(test), test.name, signal);
      call.signal.throwIfAborted();
      if (entry === undefined) return undefined;
      done += 1;
      call.progress(done, tests.length, `${entry.name} ${entry.passed ? "passed" : "failed"}`);
      return entry;
    }),
  ).finally(end);
  const run = entries.filter((entry) => entry !== undefined);
  const passed = run.filter((entry) => entry.passed).length;
  return {
    passed: passed === tests.length,
    failed: run.length - passed,
    not_run: tests.length - run.length,
    durationMs: Math.round(performance.now() - began),
    tests: run.map(({ artifacts: _, ...entry }) => entry),
    artifacts: run.flatMap(({ artifacts }) => artifacts).slice(0, MAX_LINKS),
  };
}

/** The outcome of one test; undefined if the suite was stopped first. */
async function entryOf(
  tester: SuiteTester,
  request: RunRequest,
  name: string,
  signal: AbortSignal,
): Promise<(SuiteEntry & Pick<SuiteReport, "artifacts">) | undefined> {
  const began = performance.now();
  try {
    const call = { signal, leftMs: Number.POSITIVE_INFINITY, progress: () => undefined };
    const run = await tester.run(request, call);
    const { passed, durationMs, run_id, artifacts = [], ...report } = run;
    const pictures = artifacts.filter(({ mime_type: type }) => !passed && type === "image/png");
    const failures = failuresOf(report);
    return {
      ...{ name, passed, durationMs, run_id, artifacts: pictures, screenshot: pictures[0]?.path },
      failures: failures.length === 0 ? undefined : failures,
    };
  } catch (error) {
    if (signal.aborted) return undefined;
    // Without a browser no test can run; any other error ends only its own test.
    if (error instanceof ToolError && error.code === "no_browser") throw error;
    const durationMs = Math.round(performance.now() - began);
    const failure = error instanceof Error ? error.message : String(error);
    const failures = [oneLine(clip(failure, 600))];
    return { name, passed: false, durationMs, failures, artifacts: [] };
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

/** The answer for people. */
export function suiteText(report: SuiteReport): string {
  const { passed, failed, not_run: notRun, durationMs, tests } = report;
  const rest = notRun > 0 ? `, ${notRun} not run` : "";
  const head = passed
    ? `All ${tests.length} tests passed in ${durationMs} ms.`
    : `${failed} of ${tests.length + notRun} tests FAILED${rest}, in ${durationMs} ms:`;
  const lines = tests.flatMap(({ name, run_id: id, failures = [], screenshot, ...test }) => [
    `${test.passed ? "✓" : "✗"} ${name} (${test.durationMs} ms${id === undefined ? "" : `, run ${id}`})`,
    ...[...failures, ...(screenshot === undefined ? [] : [screenshot])].map(
      (line) => `    ${line}`,
    ),
  ]);
  return [head, ...lines].join("\n");
}
