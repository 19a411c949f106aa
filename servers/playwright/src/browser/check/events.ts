import type { Page, Request } from "playwright";
import type { Absence, CheckOf, RequestPattern, StatusRange } from "../language/ast.ts";
import { spaced, textMatches, urlMatcher } from "../language/matching.ts";
import { shown } from "../library.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import { isFailed, type PageEvents, type RequestLine } from "../session/page-events.ts";
import type { CheckScope } from "./check.ts";
import type { Outcome } from "./expectation.ts";

type EventCheck = CheckOf<
  | "status"
  | "request"
  | "response"
  | "response body"
  | "no requests"
  | "console"
  | "download"
  | "dialog message"
  | "header"
  | "cookie"
  | "cookie exists"
  | "local storage"
  | "local storage exists"
>;

const isIn = ({ from, to }: StatusRange, status: number) => status >= from && status <= to;

type See = (text: string) => string;

/** Maximum bodies that a check reads, and characters of each. */
const MAX_BODIES = 20;
const MAX_BODY_CHARS = 1_000_000;

/**
 * Checks what a run has recorded so far: the status, requests, console lines.
 */
export async function eventOutcome(
  check: EventCheck,
  { page, events, secrets }: CheckScope,
): Promise<Outcome> {
  const see = secrets.seen;
  switch (check.kind) {
    case "cookie":
    case "cookie exists": {
      const cookies = await page.context().cookies(page.url());
      const value = cookies.find(({ name }) => name === check.name)?.value;
      const names = cookies.map(({ name }) => name);
      const others =
        names.length === 0
          ? "there are none"
          : `there are ${names
              .map((name) => shown(name, 40))
              .slice(0, 10)
              .join(", ")}`;
      // The value of a cookie is often what keeps a user signed in, so no message has it.
      return storedOutcome(
        check,
        value,
        secrets,
        `no cookie has this name; ${others}`,
        () => "its value is different",
      );
    }
    case "local storage":
    case "local storage exists": {
      const value = await page.evaluate(
        (name) => localStorage.getItem(name) ?? undefined,
        check.name,
      );
      return storedOutcome(
        check,
        value,
        secrets,
        "no item has this name",
        (text) => `its value is ${shown(text)}`,
      );
    }
    case "header": {
      const { name, compare } = check;
      const lines = made(check.request, events);
      const headers = await Promise.all(
        lines.map(async ({ request }) => request.existingResponse()?.headerValue(name)),
      );
      const values = headers.filter((one) => typeof one === "string");
      if (compare !== undefined && secrets.isWritten && /cookie|auth|token/i.test(name))
        return { passed: false, actual: UNREAD };
      const fits = (value: string) =>
        compare === undefined || textMatches(see(value), compare) !== compare.negated;
      const last = values.at(-1);
      const said =
        last === undefined
          ? `no response has this header; ${seen(lines, events)}`
          : `its value is ${shown(see(last))}`;
      return { passed: values.some(fits), actual: said };
    }
    case "status": {
      const status = events.place.response?.status() ?? 0;
      const actual =
        status === 0 ? "there is no response with a status" : `the status is ${status}`;
      return { passed: isIn(check.range, status), actual };
    }
    case "request":
      if (check.contains === undefined) return requested(check.request, events, () => true, true);
      return bodied(
        check.request,
        check.contains,
        events,
        see,
        async ({ request }) => request.postData() ?? "",
      );
    case "response":
      return requested(check.request, events, ({ status }) => isIn(check.range, status), true);
    case "response body":
      return bodied(check.request, check.contains, events, see, ({ request }) => bodyOf(request));
    case "no requests":
      return requested(check.request, events, () => true, false);
    case "download": {
      const matches = urlMatcher(check.name);
      const lines = events.downloads?.lines ?? [];
      const passed = lines.some(({ name, state }) => state === "finished" && matches(name));
      const seen = lines
        .map(({ name, state, failure }) => `${shown(name)} ${failure ?? state}`)
        .join(", ");
      return { passed, actual: seen === "" ? "nothing was downloaded" : `downloads: ${seen}` };
    }
    case "dialog message": {
      const found = events.dialogs.some(({ message }) => textMatches(message, check.compare));
      const last = events.dialogs.at(-1);
      const said =
        last === undefined ? "" : `the last dialog, ${last.type}, said ${shown(last.message)}`;
      return { passed: found !== check.compare.negated, actual: said || "no dialog opened" };
    }
    case "console": {
      const wanted = spaced(check.contains);
      const passed = events.console.some(({ text }) => spaced(text).includes(wanted));
      const last = events.console.at(-1);
      const line =
        last === undefined ? "the console is empty" : `its last line is ${shown(last.text)}`;
      return { passed, actual: line };
    }
  }
}

const UNREAD = "a secret was written, so values that can keep a user signed in are not compared";

/** Checks a stored value, or whether there is one. */
function storedOutcome(
  check: CheckOf<"cookie" | "cookie exists" | "local storage" | "local storage exists">,
  value: string | undefined,
  secrets: SecretsInRun,
  missing: string,
  say: (value: string) => string,
): Outcome {
  if (!("compare" in check))
    return {
      passed: (value !== undefined) === check.exists,
      actual: value === undefined ? missing : "it exists",
    };
  if (value === undefined) return { passed: false, actual: missing };
  if (secrets.isWritten) return { passed: false, actual: UNREAD };
  const text = secrets.redact(value);
  return { passed: textMatches(text, check.compare) !== check.compare.negated, actual: say(text) };
}

function made({ glob, method }: RequestPattern, events: PageEvents): RequestLine[] {
  const matches = urlMatcher(glob);
  return events.requests.filter(
    (line) => (method === undefined || line.method === method) && matches(line.url),
  );
}

function requested(
  pattern: RequestPattern,
  events: PageEvents,
  fit: (line: RequestLine) => boolean,
  wanted: boolean,
): Outcome {
  const lines = made(pattern, events);
  return { passed: lines.some(fit) === wanted, actual: seen(lines, events) };
}

function seen(lines: readonly RequestLine[], events: PageEvents): string {
  const first = lines[0];
  return first === undefined
    ? `none of ${events.counts.requests} requests matches`
    : `${lines.length} matched, the first ${first.method} ${shown(first.url)} ${isFailed(first) ? `failed (${first.failure ?? first.status})` : `with status ${first.status}`}`;
}

async function bodied(
  pattern: RequestPattern,
  text: string,
  events: PageEvents,
  see: See,
  read: (line: RequestLine) => Promise<string>,
): Promise<Outcome> {
  const lines = made(pattern, events);
  const bodies = await Promise.all(
    lines.slice(-MAX_BODIES).map(async (line) => see((await read(line)).slice(0, MAX_BODY_CHARS))),
  );
  const passed = bodies.some((body) => spaced(body).includes(spaced(text)));
  const last = bodies.at(-1);
  return {
    passed,
    actual: last === undefined ? seen(lines, events) : `the last body is ${shown(last)}`,
  };
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
export async function exchangesOf({ requests }: PageEvents, see: See): Promise<object[]> {
  const wanted = requests.filter(({ request }) =>
    /^(?:document|fetch|xhr)$/.test(request.resourceType()),
  );
  return Promise.all(
    wanted.slice(0, MAX_EXCHANGES).map(async ({ method, url, status, failure, request }) => {
      const type = (await request.existingResponse()?.headerValue("content-type")) ?? "";
      const isReadable = /json|text|xml|javascript|urlencoded/.test(type);
      return {
        method,
        url,
        status,
        ...(failure === undefined ? {} : { failure }),
        ...cut("request", see(request.postData() ?? "")),
        ...(isReadable ? cut("response", see(await bodyOf(request))) : {}),
      };
    }),
  );
}

const cut = (name: string, body: string) =>
  body === "" ? {} : { [name]: body.slice(0, MAX_SHOWN_CHARS) };

/** What a page on https loaded, or tried to load, without encryption. */
function mixedContent(page: Page, { requests, console }: PageEvents): string[] {
  if (!page.url().startsWith("https:")) return [];
  const plain = requests.map(({ url }) => url).filter((url) => /^(?:http|ws):/i.test(url));
  return [
    ...plain,
    ...console.map(({ text }) => text).filter((text) => text.startsWith("Mixed Content:")),
  ];
}

/** Checks that something has not happened so far. */
export async function absenceOutcome(
  what: Absence,
  page: Page,
  events: PageEvents,
): Promise<Outcome> {
  switch (what) {
    case "console errors":
    case "console warnings": {
      const level = what === "console errors" ? "error" : "warning";
      const lines = events.console
        .filter((line) => line.level === level)
        .map((line) => {
          const said = events.said(line);
          return said !== line.text || line.url === ""
            ? said
            : `${said} (${line.url}:${line.line})`;
        });
      if (level === "warning") return outcome(events.counts.warnings, what, lines);
      // Every browser's console shows uncaught errors, too.
      const { errors, pageErrors } = events.counts;
      const thrown = events.pageErrors.map((text) => `uncaught ${text}`);
      return outcome(errors + pageErrors, what, [...thrown, ...lines]);
    }
    case "page errors":
      return outcome(events.counts.pageErrors, what, events.pageErrors);
    case "failed requests": {
      const failed = events.requests
        .filter(isFailed)
        .map(({ method, url, failure, status }) => `${method} ${url}: ${failure ?? status}`);
      return outcome(failed.length, what, failed);
    }
    case "broken images": {
      const broken = await page.evaluate(brokenImages);
      return outcome(broken.length, what, broken);
    }
    case "horizontal overflow": {
      const { over, by } = await page.evaluate(widestOverflow);
      if (over <= 1) return { passed: true, actual: "there is none" };
      const widest = by === "" ? "" : `, by ${shown(by)}`;
      return { passed: false, actual: `the page is ${over} px too wide${widest}` };
    }
    case "mixed content": {
      const all = mixedContent(page, events);
      return outcome(all.length, what, all);
    }
  }
}

const MAX_SHOWN = 5;

function outcome(count: number, what: string, all: readonly string[]): Outcome {
  if (count === 0) return { passed: true, actual: "there are none" };
  const noun = count === 1 ? what.replace(/s$/, "") : what;
  const list = all.slice(0, MAX_SHOWN).map((one) => shown(one, 240));
  const first = list.length === 0 ? "" : `, the first: ${list.join(", then ")}`;
  return { passed: false, actual: `${count} ${noun}${first}` };
}

/** Runs in the page: the sources of images that failed to load. */
function brokenImages(): string[] {
  return [...document.images]
    .filter(
      (image) =>
        (image.currentSrc || image.src) !== "" && image.complete && image.naturalWidth === 0,
    )
    .slice(0, 100)
    .map((image) => (image.currentSrc || image.src).slice(0, 500));
}

/** Runs in the page: how many pixels it scrolls to the right, and the widest element. */
function widestOverflow(): { over: number; by: string } {
  const root = document.scrollingElement ?? document.documentElement;
  const over = root.scrollWidth - root.clientWidth;
  let farthest = root.clientWidth + 1;
  let by = "";
  if (over > 1) {
    for (const element of [...document.querySelectorAll("body *")].slice(0, 20_000)) {
      const { right } = element.getBoundingClientRect();
      if (right + window.scrollX <= farthest) continue;
      farthest = right + window.scrollX;
      const [name] = element.classList;
      by =
        element.tagName.toLowerCase() +
        (element.id === "" ? "" : `#${element.id}`) +
        (name === undefined ? "" : `.${name}`);
    }
  }
  return { over, by };
}
