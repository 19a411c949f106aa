// The answers of all tools that run tests, as one report.
import type { ToolResult } from "../../../../packages/core/views/host.ts";

/** A check, or a test with its failures. */
export interface Line {
  readonly name: string;
  readonly passed: boolean;
  readonly device?: string;
  readonly said?: string;
  /** How long it took, for a person. */
  readonly took?: string;
}

/** A file of the run. */
export interface Artifact {
  readonly uri: string;
  /** The file's name. */
  readonly name: string;
  /** The name of the test that it belongs to, if the run has several; otherwise the file's. */
  readonly title: string;
  readonly mimeType: string;
}

export interface Report {
  readonly passed: boolean;
  /** Of a comparison of two versions, which has no verdict. */
  readonly isComparison: boolean;
  readonly verdict: string;
  readonly facts: readonly string[];
  /** Why the run did not finish. */
  readonly stopped: string | undefined;
  readonly lines: readonly Line[];
  readonly console: readonly string[];
  readonly notes: readonly string[];
  readonly artifacts: readonly Artifact[];
}

/** A page of a comparison; each list has one line for each difference. */
interface ComparedPage extends Partial<Record<(typeof DIFFERENCES)[number], readonly string[]>> {
  readonly page: string;
  readonly device: string;
  readonly changed: boolean;
  readonly error?: string;
}

const DIFFERENCES = ["lines", "regions", "ignored"] as const;
const BEGINNINGS: Readonly<Record<string, string>> = { regions: "picture: ", ignored: "ignored: " };

/** The structure of an answer of pw_run_test, pw_run_suite, pw_run_specs or pw_compare: each has a part of it. */
interface Answer {
  readonly passed?: boolean;
  readonly url?: string;
  readonly final_url?: string;
  readonly status?: number;
  readonly title?: string;
  readonly durationMs?: number;
  readonly run_id?: string;
  readonly assertions?: readonly {
    name: string;
    passed: boolean;
    actual?: string;
    device?: string;
  }[];
  readonly tests?: readonly {
    name: string;
    passed: boolean;
    run_id?: string;
    durationMs?: number;
    failures?: readonly string[];
  }[];
  readonly failures?: readonly { test: string; error: string }[];
  readonly pages?: readonly ComparedPage[];
  readonly summary?: string;
  readonly failed_step?: string;
  readonly error?: string;
  readonly notes?: readonly string[];
  readonly not_run?: number;
  readonly not_shown?: number;
}

const CONSOLE = "console error: ";

/** The report in an answer; undefined for an error without a run. */
export function reportOf({ structuredContent, content = [] }: ToolResult): Report | undefined {
  const answer = structuredContent as Answer | undefined;
  const { pages } = answer ?? {};
  const isSame = pages?.every(({ changed, error }) => !changed && error === undefined);
  const passed = answer?.passed ?? isSame;
  if (answer === undefined || passed === undefined) return undefined;
  const lines: Line[] = [
    ...(answer.assertions ?? []).map(({ actual, ...check }) => ({ ...check, ...said(actual) })),
    ...(answer.tests ?? []).map(({ name, passed, durationMs, failures = [] }) => ({
      ...{ name, passed, ...(durationMs === undefined ? {} : { took: seconds(durationMs) }) },
      ...said(failures.join("\n") || undefined),
    })),
    ...(pages ?? []).map(({ page, device, changed, error, ...lists }) => ({
      ...{ name: page, device, passed: !changed && error === undefined },
      ...said(error ?? (differencesOf(lists).join("\n") || undefined)),
    })),
    ...(answer.failures ?? []).map(({ test, error }) => ({
      name: test,
      passed: false,
      said: error,
    })),
  ];
  const { notes = [], failed_step: step, error } = answer;
  return {
    passed,
    isComparison: pages !== undefined,
    verdict: answer.summary ?? verdictOf({ ...answer, passed }, lines),
    facts: factsOf(answer),
    stopped: step === undefined ? error : `This step failed: ${step}`,
    // What needs attention first, otherwise in the order of the run.
    lines: [...lines].sort((a, b) => Number(a.passed) - Number(b.passed)),
    console: notes
      .filter((note) => note.startsWith(CONSOLE))
      .map((note) => note.slice(CONSOLE.length)),
    notes: notes.filter((note) => !note.startsWith(CONSOLE)),
    artifacts: content.flatMap(({ type, uri, mimeType = "" }) =>
      type === "resource_link" && uri !== undefined
        ? { uri, mimeType, ...namesOf(uri, answer) }
        : [],
    ),
  };
}

/** An artifact's file name, and the name of its test, whose run is a part of its address. */
function namesOf(uri: string, { tests = [] }: Answer): Pick<Artifact, "name" | "title"> {
  const name = decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));
  const test = tests.find(({ run_id: run }) => run !== undefined && uri.split("/").includes(run));
  return { name, title: test?.name ?? name };
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const differencesOf = (lists: Partial<Record<string, readonly string[]>>) =>
  DIFFERENCES.flatMap((list) =>
    (lists[list] ?? []).map((line) => `${BEGINNINGS[list] ?? ""}${line}`),
  );

const said = (text: string | undefined) => (text === undefined ? {} : { said: text });

function verdictOf({ passed, tests, not_run: notRun = 0 }: Answer, lines: readonly Line[]): string {
  const what = tests === undefined ? "check" : "test";
  const failed = lines.filter((line) => !line.passed).length;
  const total = lines.length + notRun;
  if (total === 0) return passed ? "The page loaded" : "The run failed";
  const all = `${total} ${what}${total === 1 ? "" : "s"}`;
  if (failed === 0) return notRun === 0 ? `${all} passed` : `${notRun} of ${all} did not run`;
  return `${failed} of ${all} failed${notRun === 0 ? "" : `, ${notRun} did not run`}`;
}

function factsOf(answer: Answer): string[] {
  const { url, final_url: end, status, title, durationMs, run_id: id, not_shown } = answer;
  return [
    ...(url === undefined ? [] : [end === undefined || end === url ? url : `${url} → ${end}`]),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(title === undefined ? [] : [`“${title}”`]),
    ...(durationMs === undefined ? [] : [seconds(durationMs)]),
    ...(not_shown ? [`${not_shown} more failures not shown`] : []),
    ...(id === undefined ? [] : [`run ${id}`]),
  ];
}

/** Images of one comparison: actual, expected and difference. */
export interface Comparison {
  readonly name: string;
  readonly actual: Artifact;
  readonly expected: Artifact | undefined;
  readonly diff: Artifact | undefined;
}

/**
 * Groups the images of each comparison, by the names that the server and Playwright's own tests use, and the other
 * files.
 */
export function sorted(artifacts: readonly Artifact[]) {
  const parts = artifacts.map((artifact) => ({
    artifact,
    part: /^(.+)[.-](actual|expected|diff)\.png$/.exec(artifact.name),
  }));
  const of = (name: string | undefined, what: string) =>
    parts.find(({ part }) => part?.[1] === name && part?.[2] === what)?.artifact;
  const comparisons = parts.flatMap(({ artifact, part }): Comparison[] => {
    const name = part?.[1];
    if (name === undefined || part?.[2] !== "actual") return [];
    const [expected, diff] = [of(name, "expected"), of(name, "diff")];
    return expected === undefined && diff === undefined
      ? []
      : [{ name, actual: artifact, expected, diff }];
  });
  const used = new Set(
    comparisons.flatMap(({ actual, expected, diff }) => [actual, expected, diff]),
  );
  const rest = artifacts.filter((artifact) => !used.has(artifact));
  return {
    comparisons,
    pictures: rest.filter(({ mimeType }) => mimeType === "image/png"),
    files: rest.filter(({ mimeType }) => mimeType !== "image/png"),
  };
}
