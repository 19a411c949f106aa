// The answers of all tools that run tests, as one report.
import type { ToolResult } from "../../../../packages/core/views/host.ts";

/** A check, a test with its failures, or a compared page with its differences. */
export interface Line {
  readonly name: string;
  readonly passed: boolean;
  readonly device?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly text?: string | undefined;
}

/** A file of the run. */
export interface Artifact {
  readonly uri: string;
  readonly name: string;
  /** The name of its test, if the run has several; otherwise the file's. */
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
  readonly failure: string | undefined;
  readonly lines: readonly Line[];
  readonly console: readonly string[];
  readonly notes: readonly string[];
  readonly artifacts: readonly Artifact[];
}

type Lines = readonly string[];

/** The structures of pw_run_test, pw_run_suite, pw_run_specs and pw_compare: each has a part of it. */
interface Answer {
  readonly passed?: boolean;
  readonly url?: string;
  readonly final_url?: string;
  readonly status?: number;
  readonly title?: string;
  readonly durationMs?: number;
  readonly run_id?: string;
  readonly assertions?: readonly (Line & { actual?: string })[];
  readonly tests?: readonly (Line & { run_id?: string; failures?: Lines })[];
  readonly failures?: readonly { test: string; error: string }[];
  readonly pages?: readonly {
    readonly page: string;
    readonly device: string;
    readonly changed: boolean;
    readonly error?: string;
    readonly lines?: Lines;
    readonly regions?: Lines;
    readonly ignored?: Lines;
  }[];
  readonly summary?: string;
  readonly failed_step?: string;
  readonly error?: string;
  readonly notes?: Lines;
  readonly not_run?: number;
  readonly not_shown?: number;
}

const CONSOLE = "console error: ";

/** The report in an answer; undefined for an error without a run. */
export function reportOf({ structuredContent, content = [] }: ToolResult): Report | undefined {
  const answer: Answer = structuredContent ?? {};
  const { pages, notes = [], failed_step: step, error, tests = [] } = answer;
  const isUnchanged = pages?.every(({ changed, error }) => !changed && error === undefined);
  const passed = answer.passed ?? isUnchanged;
  if (passed === undefined) return undefined;
  const lines = linesOf(answer);
  const titleOf = (uri: string) =>
    tests.find(({ run_id: run }) => run !== undefined && uri.split("/").includes(run))?.name;
  return {
    ...{ passed, isComparison: pages !== undefined, facts: factsOf(answer) },
    verdict: answer.summary ?? verdictOf({ ...answer, passed }, lines),
    failure: step === undefined ? error : `This step failed: ${step}`,
    // What needs attention first, otherwise in the order of the run.
    lines: lines.sort((a, b) => Number(a.passed) - Number(b.passed)),
    console: notes.flatMap((note) => (note.startsWith(CONSOLE) ? note.slice(CONSOLE.length) : [])),
    notes: notes.filter((note) => !note.startsWith(CONSOLE)),
    artifacts: content.flatMap(({ type, uri = "", mimeType = "" }) => {
      const name = decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));
      return type === "resource_link" ? { uri, mimeType, name, title: titleOf(uri) ?? name } : [];
    }),
  };
}

const linesOf = ({ assertions = [], tests = [], pages = [], failures = [] }: Answer): Line[] => [
  ...assertions.map(({ actual, ...check }) => ({ ...check, text: actual })),
  ...tests.map(({ failures = [], ...test }) => ({ ...test, text: failures.join("\n") })),
  ...pages.map(({ page, device, changed, error, lines = [], regions = [], ignored = [] }) => {
    const picture = regions.map((region) => `picture: ${region}`);
    const rest = ignored.map((difference) => `ignored: ${difference}`);
    const text = error ?? [...lines, ...picture, ...rest].join("\n");
    return { name: page, device, passed: !changed && error === undefined, text };
  }),
  ...failures.map(({ test, error }) => ({ name: test, passed: false, text: error })),
];

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function verdictOf({ passed, tests, not_run: notRun = 0 }: Answer, lines: readonly Line[]): string {
  const failed = lines.filter((line) => !line.passed).length;
  const total = lines.length + notRun;
  if (total === 0) return passed ? "The page loaded" : "The run failed";
  const all = `${total} ${tests === undefined ? "check" : "test"}${total === 1 ? "" : "s"}`;
  if (failed === 0) return notRun === 0 ? `${all} passed` : `${notRun} of ${all} did not run`;
  return `${failed} of ${all} failed${notRun === 0 ? "" : `, ${notRun} did not run`}`;
}

function factsOf(answer: Answer): string[] {
  const { url, final_url: end = url, status, title, durationMs, run_id: id, not_shown } = answer;
  return [
    end === url ? url : `${url} → ${end}`,
    status === undefined ? undefined : `status ${status}`,
    title === undefined ? undefined : `“${title}”`,
    durationMs === undefined ? undefined : seconds(durationMs),
    not_shown ? `${not_shown} more failures not shown` : undefined,
    id === undefined ? undefined : `run ${id}`,
  ].filter((fact) => fact !== undefined);
}

/** Images of one comparison: actual, expected and difference. */
export type Comparison = Readonly<
  Record<"actual", Artifact> & Record<"expected" | "diff", Artifact | undefined>
>;

/** The images of each comparison, by the names that the server and Playwright's own tests use, and the other files. */
export function sorted(artifacts: readonly Artifact[]) {
  const partOf = ({ name }: Artifact) => /^.+[.-](actual|expected|diff)\.png$/.exec(name)?.[1];
  const comparisons = artifacts.flatMap((actual): Comparison[] => {
    if (partOf(actual) !== "actual") return [];
    const of = (part: string) => {
      const name = actual.name.replace(/actual(?=\.png$)/, part);
      return artifacts.find((artifact) => artifact.name === name);
    };
    const [expected, diff] = [of("expected"), of("diff")];
    return expected === undefined && diff === undefined ? [] : [{ actual, expected, diff }];
  });
  const used = new Set(comparisons.flatMap((comparison) => Object.values(comparison)));
  const rest = artifacts.filter((artifact) => !used.has(artifact));
  const isPicture = ({ mimeType }: Artifact) => mimeType === "image/png";
  return {
    comparisons,
    pictures: rest.filter(isPicture),
    files: rest.filter((artifact) => !isPicture(artifact)),
  };
}
