import { type Check, type Metric, SEVERITIES, type Severity, type Target } from "./ast.ts";
import { LanguageError, type Reader } from "./reader.ts";
import { target } from "./target.ts";
import { duration, requestPattern, size, statusRange, textComparison } from "./values.ts";

/** Checks of requests, responses, console lines, downloads and dialogs so far. */
export function networkCheck(reader: Reader): Check | undefined {
  if (reader.takes("request to")) {
    const example = "request to POST /api/items contains 'Lamp'";
    const pattern = requestPattern(reader, example);
    const contains = reader.takes("contains") ? reader.string(example) : undefined;
    return { kind: "request", ...pattern, contains };
  }
  if (reader.takes("download"))
    return { kind: "download", name: reader.string("download 'report.csv'", "the file's name in quotes") };
  if (reader.takes("dialog message")) {
    const compare = textComparison(reader);
    if (compare === undefined)
      throw reader.error("is, contains or matches", "dialog message contains 'Sure?'");
    return { kind: "dialog message", compare };
  }
  if (!reader.sees("response time") && reader.takes("response")) {
    const example = "response **/api/items status is 200";
    reader.takes("of");
    const pattern = requestPattern(reader, example);
    if (reader.takes("contains"))
      return { kind: "response body", ...pattern, contains: reader.string(example) };
    reader.takes("has");
    if (!reader.takes("status")) throw reader.error("status, or contains and a text", example);
    reader.takes("is");
    return { kind: "response", ...pattern, ...statusRange(reader, example) };
  }
  if (reader.takes("console contains"))
    return { kind: "console", text: reader.string("console contains 'ready'") };
  return undefined;
}

const TIMES: readonly Metric[] = ["response time", "load time", "fcp", "lcp"];

/** Times, layout shift, weight and visual comparison. */
export function qualityCheck(reader: Reader): Check | undefined {
  const time = reader.takesOneOf(TIMES);
  if (time !== undefined) return metric(reader, time);
  if (reader.takes("cls")) {
    under(reader, "cls under 0.1");
    const found = reader.takesPattern(/\d+(?:\.\d+)?(?![\w.])/);
    if (found === undefined) throw reader.error("a number such as 0.1", "cls under 0.1");
    return { kind: "metric", metric: "cls", limit: Number(found[0]) };
  }
  if (reader.takes("page weight")) {
    const example = "page weight under 2 MB";
    under(reader, example);
    return { kind: "metric", metric: "page weight", limit: size(reader, example) };
  }
  return reader.takes("screenshot") ? screenshotCheck(reader) : undefined;
}

function metric(reader: Reader, name: Metric): Check {
  const example = `${name} under 500ms`;
  under(reader, example);
  return { kind: "metric", metric: name, limit: duration(reader, example) };
}

function under(reader: Reader, example: string): void {
  reader.takes("is");
  if (!reader.takes("under") && !reader.takes("below")) throw reader.error("under", example);
}

/** Names of baselines are file names: no separator, no dot at the beginning. */
export const BASELINE_NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}$/;

function screenshotCheck(reader: Reader): Check {
  const example = "screenshot of main matches baseline 'home' within 1% masking .clock";
  const shown = reader.takes("of") ? target(reader, example) : undefined;
  if (!reader.takes("matches baseline") && !reader.takes("matches"))
    throw reader.error("matches baseline and a name in quotes", example);
  const start = reader.at;
  const baseline = reader.string(example);
  if (!BASELINE_NAME.test(baseline) || baseline.endsWith(".") || baseline.includes(".."))
    throw new LanguageError(start, "a name of letters, digits, spaces, _, . and - (at most 80)", example);
  let tolerance = 0.002;
  const percent = reader.takesPattern(/within\s+(\d+(?:\.\d+)?)\s*%/i);
  if (percent !== undefined) {
    tolerance = Number(percent[1]) / 100;
    if (tolerance > 1) throw reader.error("at most 100%", example);
  }
  const masks: Target[] = [];
  if (reader.takes("masking")) {
    do masks.push(target(reader, example));
    while (reader.takesPattern(/,/) !== undefined || reader.takes("and"));
  }
  return { kind: "screenshot", target: shown, baseline, tolerance, masks };
}

/** The minimum severity in `no serious a11y violations`. */
export function severityOf(reader: Reader): Severity | undefined {
  const start = reader.at;
  const severity = reader.takesOneOf(SEVERITIES);
  if (severity !== undefined && !/^(?:a11y|accessibility)\b/i.test(reader.rest)) {
    reader.at = start;
    return undefined;
  }
  return severity;
}
