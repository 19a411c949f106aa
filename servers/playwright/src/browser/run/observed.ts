import type { Check } from "../language/ast.ts";
import { spaced, urlMatcher } from "../language/values.ts";
import type { Outcome } from "./expectation.ts";
import { isFailed, type PageRecord, type RequestLine } from "./record.ts";
import { shown } from "./strict.ts";

type Observed = Extract<Check, { kind: "status" | "request" | "response" | "no requests" | "console" }>;

/** Judges what a run has recorded up to now: the status, requests, console lines. */
export function observed(check: Observed, record: PageRecord): Outcome {
  switch (check.kind) {
    case "status": {
      const status = record.navigation?.status() ?? 0;
      return {
        passed: status >= check.from && status <= check.to,
        actual: status === 0 ? "no response has a status" : `the status is ${status}`,
      };
    }
    case "request":
      return requested(check.glob, record, () => true, true);
    case "response":
      return requested(check.glob, record, ({ status }) => status >= check.from && status <= check.to, true);
    case "no requests":
      return requested(check.glob, record, () => true, false);
    case "console": {
      const wanted = spaced(check.text);
      const passed = record.console.some(({ text }) => spaced(text).includes(wanted));
      const last = record.console.at(-1);
      return {
        passed,
        actual: last === undefined ? "the console is empty" : `its last line is ${shown(last.text)}`,
      };
    }
  }
}

function requested(
  glob: string,
  record: PageRecord,
  fit: (line: RequestLine) => boolean,
  wanted: boolean,
): Outcome {
  const matches = urlMatcher(glob);
  const made = record.requests.filter(({ url }) => matches(url));
  const fitting = made.find(fit);
  const first = made[0];
  const seen =
    first === undefined
      ? `none of ${record.counts.requests} requests matches`
      : `${made.length} matched, the first ${first.method} ${shown(first.url)} ${isFailed(first) ? `failed (${first.failure ?? first.status})` : `with status ${first.status}`}`;
  return { passed: (fitting !== undefined) === wanted, actual: seen };
}
