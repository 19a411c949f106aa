import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Seen } from "../page/snapshot.ts";
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

const shortened = (text: string, max: number): string =>
  text.length > max ? `${clip(text, max)}…` : text;

/** Texts that are not cut. */
const WHOLE = /^(?:url|final_url|path|uri|run_id|name|mime_type)$/;
const SHORTENED = "shortened; the full report is in the run's report.json";

/** A report that fits into `budget` characters, as structure and as text: long texts and lists are cut until it does. */
export function fitted<Report extends { readonly notes?: string[] | undefined }>(
  report: Report,
  textOf: (report: Report) => string,
  budget: number,
): Report {
  let fit = report;
  for (const [chars, items] of [
    [300, 100],
    [100, 30],
    [40, 5],
  ] as const) {
    if (Math.max(JSON.stringify(fit).length, textOf(fit).length) <= budget) break;
    const cut = (key: string, value: unknown): unknown => {
      if (typeof value === "string") return WHOLE.test(key) ? value : shortened(value, chars);
      const isLong = Array.isArray(value) && value.length > items && !/^(?:tests|pages)$/.test(key);
      return isLong ? value.slice(0, items) : value;
    };
    const { notes = [], ...rest } = JSON.parse(JSON.stringify(report, cut));
    fit = { ...rest, notes: [...notes, SHORTENED] };
  }
  return fit;
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The answer as text, for people and for hosts without structured content; it ends with the screenshot's path. */
export function textOf(report: RunReport): string {
  const { assertions, artifacts = [], failed_step: step, url, final_url: final = url } = report;
  const pictures = artifacts.filter((artifact) => artifact.mime_type === "image/png");
  const failed = assertions.filter(({ passed }) => !passed);
  const checks = plural(assertions.length, "check");
  const lines = [verdictOf(report, failed.length)];
  if (step !== undefined && failed.length > 0) lines.push(`${failed.length} of ${checks} not run.`);
  for (const { name, actual, device } of failed)
    lines.push(
      `✗ ${oneLine(name)}${device === undefined ? "" : ` [${device}]`}${actual === undefined ? "" : `: ${actual}`}`,
    );
  const facts = [
    oneLine(final === new URL(url).href || final === url ? url : `${url} → ${final}`),
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

function verdictOf({ assertions, artifacts = [], failed_step: step }: RunReport, failed: number) {
  if (step !== undefined) return `A step FAILED: ${step}`;
  if (failed > 0) return `${failed} of ${plural(assertions.length, "check")} FAILED:`;
  const see = artifacts.some(({ mime_type }) => mime_type === "image/png")
    ? " See screenshot."
    : "";
  if (assertions.length === 0) return `The page loaded; nothing was asserted.${see}`;
  return `All checks passed (${plural(assertions.length, "assertion")}).${see}`;
}
