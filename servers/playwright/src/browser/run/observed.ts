import type { Request } from "playwright";
import type { Check, RequestPattern } from "../language/ast.ts";
import { spaced, textMatches, urlMatcher } from "../language/values.ts";
import type { Outcome } from "./expectation.ts";
import { isFailed, type PageRecord, type RequestLine } from "./record.ts";
import { shown } from "./strict.ts";

type Observed = Extract<
  Check,
  {
    kind:
      | "status"
      | "request"
      | "response"
      | "response body"
      | "no requests"
      | "console"
      | "download"
      | "dialog message";
  }
>;

type See = (text: string) => string;

/** Maximum bodies that a check reads, and characters of each. */
const MAX_BODIES = 20;
const MAX_BODY_CHARS = 1_000_000;

/**
 * Checks what a run has recorded so far: the status, requests, console lines.
 *
 * @param see a text of the page as a check may see it.
 */
export async function observed(check: Observed, record: PageRecord, see: See): Promise<Outcome> {
  switch (check.kind) {
    case "status": {
      const status = record.place.response?.status() ?? 0;
      return {
        passed: status >= check.from && status <= check.to,
        actual: status === 0 ? "there is no response with a status" : `the status is ${status}`,
      };
    }
    case "request":
      if (check.contains === undefined) return requested(check, record, see, () => true, true);
      return bodied(check, check.contains, record, see, async ({ request }) => request.postData() ?? "");
    case "response":
      return requested(check, record, see, ({ status }) => status >= check.from && status <= check.to, true);
    case "response body":
      return bodied(check, check.contains, record, see, ({ request }) => bodyOf(request));
    case "no requests":
      return requested(check, record, see, () => true, false);
    case "download": {
      const matches = urlMatcher(check.name);
      const lines = record.downloads?.lines ?? [];
      const passed = lines.some(({ name, state }) => state === "finished" && matches(see(name)));
      const seen = lines.map(({ name, state, failure }) => `${shown(name)} ${failure ?? state}`).join(", ");
      return { passed, actual: seen === "" ? "nothing was downloaded" : `downloads: ${seen}` };
    }
    case "dialog message": {
      const { compare } = check;
      const found = record.dialogs.some(({ message }) => textMatches(see(message), compare));
      const last = record.dialogs.at(-1);
      return {
        passed: found !== compare.negated,
        actual:
          last === undefined
            ? "no dialog opened"
            : `the last dialog, ${last.type}, said ${shown(last.message)}`,
      };
    }
    case "console": {
      const wanted = spaced(check.text);
      const passed = record.console.some(({ text }) => spaced(see(text)).includes(wanted));
      const last = record.console.at(-1);
      return {
        passed,
        actual: last === undefined ? "the console is empty" : `its last line is ${shown(last.text)}`,
      };
    }
  }
}

/** The recorded requests that match a pattern. */
function made({ glob, method }: RequestPattern, record: PageRecord, see: See): RequestLine[] {
  const matches = urlMatcher(glob);
  return record.requests.filter(
    (line) => (method === undefined || line.method === method) && matches(see(line.url)),
  );
}

function requested(
  pattern: RequestPattern,
  record: PageRecord,
  see: See,
  fit: (line: RequestLine) => boolean,
  wanted: boolean,
): Outcome {
  const lines = made(pattern, record, see);
  return { passed: lines.some(fit) === wanted, actual: seen(lines, record) };
}

function seen(lines: readonly RequestLine[], record: PageRecord): string {
  const first = lines[0];
  return first === undefined
    ? `none of ${record.counts.requests} requests matches`
    : `${lines.length} matched, the first ${first.method} ${shown(first.url)} ${isFailed(first) ? `failed (${first.failure ?? first.status})` : `with status ${first.status}`}`;
}

/** Whether a text is in one of the bodies. */
async function bodied(
  pattern: RequestPattern,
  text: string,
  record: PageRecord,
  see: See,
  read: (line: RequestLine) => Promise<string>,
): Promise<Outcome> {
  const lines = made(pattern, record, see);
  const bodies = await Promise.all(lines.slice(-MAX_BODIES).map(read));
  const passed = bodies.some((body) => spaced(see(body.slice(0, MAX_BODY_CHARS))).includes(spaced(text)));
  const last = bodies.at(-1);
  return { passed, actual: last === undefined ? seen(lines, record) : `the last body is ${shown(last)}` };
}

/** A response body as text; empty if there is none (yet) or it is too large. */
export async function bodyOf(request: Request): Promise<string> {
  const response = request.existingResponse();
  if (response === null) return "";
  const { responseBodySize } = await request.sizes().catch(() => ({ responseBodySize: 0 }));
  if (responseBodySize > MAX_BODY_CHARS) return "";
  return response.text().catch(() => "");
}

/** Maximum exchanges in the evidence, and characters of each body. */
const MAX_EXCHANGES = 200;
const MAX_SHOWN_CHARS = 5_000;

/** The exchanges of scripts and documents: method, URL, status and the beginning of both bodies. */
export async function exchangesOf({ requests }: PageRecord): Promise<object[]> {
  const wanted = requests.filter(({ request }) => /^(?:document|fetch|xhr)$/.test(request.resourceType()));
  return Promise.all(
    wanted.slice(0, MAX_EXCHANGES).map(async ({ method, url, status, failure, request }) => {
      const type = (await request.existingResponse()?.headerValue("content-type")) ?? "";
      const isReadable = /json|text|xml|javascript|urlencoded/.test(type);
      return {
        method,
        url,
        status,
        ...(failure === undefined ? {} : { failure }),
        ...cut("request", request.postData() ?? ""),
        ...(isReadable ? cut("response", await bodyOf(request)) : {}),
      };
    }),
  );
}

const cut = (name: string, body: string) => (body === "" ? {} : { [name]: body.slice(0, MAX_SHOWN_CHARS) });
