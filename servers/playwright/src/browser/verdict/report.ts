import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Seen } from "../session/snapshot.ts";
import type { Artifact } from "../store/runs.ts";

/** One check of a run, with the actual value, and the device if there are several. */
export interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  readonly actual?: string;
  readonly device?: string;
}

export interface ShownArtifact {
  readonly name: string;
  /** For people: the file's path, or its URI for a remote client. */
  readonly path: string;
  readonly uri: string;
  readonly mime_type: string;
  readonly bytes: number;
}

/** A run's answer. The first three fields are the documented contract. */
export interface RunReport {
  readonly url: string;
  readonly assertions: CheckResult[];
  readonly durationMs: number;
  readonly passed: boolean;
  readonly run_id?: string;
  readonly final_url?: string | undefined;
  readonly status?: number | undefined;
  readonly title?: string | undefined;
  readonly failed_step?: string | undefined;
  readonly artifacts?: ShownArtifact[];
  readonly notes?: string[] | undefined;
  readonly error?: string;
  readonly seen?: Seen | undefined;
}

/** A run without a verdict: its error contains the data of its report. */
export function failureOf(
  error: unknown,
  { url, assertions }: { readonly url: string; readonly assertions: readonly string[] },
  durationMs: number,
): unknown {
  if (!(error instanceof ToolError)) return error;
  const unknown = assertions.map((name): CheckResult => ({ name, passed: false }));
  const data = {
    url,
    assertions: unknown,
    durationMs,
    passed: false,
    error: error.message,
    ...error.data,
  };
  return new ToolError(error.kind, error.message, { ...error, data, cause: error.cause });
}

/** A value with its artifacts as URIs only, for the model. */
export function withUris<
  Value extends { readonly artifacts?: readonly ShownArtifact[] | undefined },
>({ artifacts = [], ...rest }: Value) {
  return { ...rest, artifacts: artifacts.map(({ uri }) => uri) };
}

/** An artifact in an answer: a remote client cannot use a path on this machine. */
export function shownArtifact({ name, path, bytes, mimeType, uri }: Artifact): ShownArtifact {
  return { name, path: uri.startsWith("file:") ? path : uri, uri, mime_type: mimeType, bytes };
}

export const shortened = (text: string, max: number): string =>
  text.length > max ? `${clip(text, max)}…` : text;

/** Whether a report fits into an answer, as structure and as text. */
export const fits = (report: object, text: string, budget: number): boolean =>
  Math.max(JSON.stringify(report).length, text.length) <= budget;

/** Ways to shorten a report, applied in order until it fits an answer; the file keeps everything. */
const CUTS: readonly ((report: RunReport) => Partial<RunReport>)[] = [
  ({ assertions }) => ({ assertions: assertions.map((one) => clipped(one, 300, 150)) }),
  ({ assertions }) => ({ assertions: assertions.map((one) => clipped(one, 100, 40)), notes: [] }),
  ({ artifacts = [] }) => ({ artifacts: artifacts.slice(0, 10) }),
  ({ assertions }) => ({ assertions: assertions.slice(0, 100).map((one) => clipped(one, 60, 0)) }),
];

function clipped(
  { actual, ...check }: CheckResult,
  nameChars: number,
  actualChars: number,
): CheckResult {
  const shown =
    actual === undefined || actualChars === 0 ? {} : { actual: shortened(actual, actualChars) };
  return { ...check, name: shortened(check.name, nameChars), ...shown };
}

/** A report that fits into `budget` characters, as structure and as text. */
export function fittingReport(report: RunReport, budget: number): RunReport {
  let fit = report;
  for (const cut of CUTS) {
    if (fits(fit, textOf(fit), budget)) return fit;
    fit = { ...fit, ...cut(fit) };
    const note = "shortened; the full report is in the run's report.json";
    fit = { ...fit, notes: [...(fit.notes ?? []).filter((one) => one !== note), note] };
  }
  return fit;
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The answer as text, for people and for hosts without structured content; it ends with the screenshot's path. */
export function textOf(report: RunReport): string {
  const { assertions, artifacts = [], failed_step: step } = report;
  const pictures = artifacts.filter((artifact) => artifact.mime_type === "image/png");
  const failed = assertions.filter(({ passed }) => !passed);
  const lines: string[] = [];
  if (step !== undefined) {
    lines.push(`A step FAILED: ${step}`);
    if (assertions.length > 0)
      lines.push(`${failed.length} of ${plural(assertions.length, "check")} not run.`);
  } else if (failed.length > 0)
    lines.push(`${failed.length} of ${plural(assertions.length, "check")} FAILED:`);
  else {
    const verdict =
      assertions.length === 0
        ? "The page loaded; nothing was asserted."
        : `All checks passed (${plural(assertions.length, "assertion")}).`;
    lines.push(pictures.length === 0 ? verdict : `${verdict} See screenshot.`);
  }
  for (const { name, actual, device } of failed)
    lines.push(
      `✗ ${oneLine(name)}${device === undefined ? "" : ` [${device}]`}${actual === undefined ? "" : `: ${actual}`}`,
    );
  const facts = [
    report.final_url === undefined || report.final_url === new URL(report.url).href
      ? oneLine(report.url)
      : `${oneLine(report.url)} → ${oneLine(report.final_url)}`,
    ...(report.status === undefined ? [] : [`status ${report.status}`]),
    ...(report.title === undefined ? [] : [`title ${JSON.stringify(report.title)}`]),
    `${report.durationMs} ms`,
    ...(report.run_id === undefined ? [] : [`run ${report.run_id}`]),
  ];
  const notes = (report.notes ?? []).map((note) => `note: ${note}`);
  const others = artifacts.filter((artifact) => !pictures.includes(artifact));
  const files = [...others, ...pictures.slice(1), ...pictures.slice(0, 1)].map(({ path }) => path);
  return [...lines, facts.join(", "), ...notes, ...files].join("\n");
}
