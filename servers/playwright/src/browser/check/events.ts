import type { RequestPattern, StatusRange } from "../language/ast.ts";
import type { CheckOf } from "../language/sentences.ts";
import { shown } from "../library.ts";
import { isFailed, type PageEvents, type RequestLine } from "../page/events.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import { anywhere, spaced, urlMatcher } from "../text.ts";
import type { Outcome } from "./expectation.ts";

type EventCheck = CheckOf<"status" | "request" | "response" | "no requests" | "download">;

/** The beginning of a body that a check reads. */
const MAX_BODY_CHARS = 1_000_000;

/** Checks what a run has recorded so far: the status, requests, console lines, downloads. */
export function eventOutcome(check: EventCheck, events: PageEvents, secret: SecretsInRun): Outcome {
  const { redact } = secret.all;
  const lines = "request" in check ? matching(check.request, events) : [];
  switch (check.kind) {
    case "status": {
      const status = events.place.response?.status() ?? 0;
      const actual =
        status === 0 ? "there is no response with a status" : `the status is ${status}`;
      return { passed: isIn(check.range, status), actual };
    }
    case "request": {
      const part = check.contains === undefined ? undefined : spaced(check.contains);
      if (part === undefined || lines.length === 0)
        return { passed: lines.length > 0, actual: summaryOf(lines, events) };
      const bodies = lines.map(({ request }) =>
        spaced(redact((request.postData() ?? "").slice(0, MAX_BODY_CHARS))),
      );
      const passed = bodies.some((body) => body.includes(part));
      return { passed, actual: `the last body is ${shown(bodies.at(-1) ?? "")}` };
    }
    case "response": {
      const passed = lines.some(({ status }) => isIn(check.range, status));
      return { passed, actual: summaryOf(lines, events) };
    }
    case "no requests": {
      const glob = anywhere(check.request.glob);
      const requests = matching({ ...check.request, glob }, events, "si");
      return { passed: requests.length === 0, actual: summaryOf(requests, events) };
    }
    case "download": {
      const matches = urlMatcher(check.name);
      const all = events.downloads?.lines ?? [];
      const list = all.map(({ name, state, failure }) => `${shown(name)} ${failure ?? state}`);
      return {
        passed: all.some(({ name, state }) => state === "finished" && matches(name)),
        actual: list.length === 0 ? "nothing was downloaded" : `downloads: ${list.join(", ")}`,
      };
    }
  }
}

const isIn = ({ from, to }: StatusRange, status: number) => status >= from && status <= to;

/** @param flags `si` in any letter case: a browser writes hosts in small letters. */
function matching({ glob, method }: RequestPattern, events: PageEvents, flags = "s") {
  const matches = urlMatcher(glob, flags);
  return events.requests.filter(
    (line) => (method === undefined || line.method === method) && matches(line.url),
  );
}

function summaryOf([first, ...others]: readonly RequestLine[], { counts }: PageEvents): string {
  if (first === undefined) return `none of ${counts.requests} requests matches`;
  const { method, url, failure, status } = first;
  const end = isFailed(first) ? `failed (${failure ?? status})` : `with status ${status}`;
  return `${others.length + 1} matched, the first ${method} ${shown(url)} ${end}`;
}
