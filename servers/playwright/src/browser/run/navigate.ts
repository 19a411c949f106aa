import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { TestContext } from "./context.ts";
import type { Deadline } from "./deadline.ts";
import { PageRecord } from "./record.ts";

/** How long a run waits for a page's load event after its first response. */
const LOAD_MS = 10_000;

/**
 * Opens the first page.
 *
 * @throws ToolError `denied` if the policy refuses it or one of its redirects, `unavailable` if nothing responds.
 */
export async function arrive(
  url: URL,
  opened: TestContext,
  record: PageRecord,
  deadline: Deadline,
): Promise<void> {
  const { page } = opened;
  try {
    // Only the deadline limits the time: with two clocks, the error would depend on which fires first.
    await deadline.race(page.goto(url.href, { waitUntil: "domcontentloaded", timeout: 0 }));
  } catch (error) {
    if (error instanceof ToolError) throw error;
    if (!opened.context.browser()?.isConnected()) throw browserGone(error);
    refusalOf(record, opened);
    throw unreachable(error, url, opened);
  }
  refusalOf(record, opened);
  const loaded = await deadline.within(
    LOAD_MS,
    page.waitForLoadState("load").then(() => true),
  );
  if (loaded !== true) record.notes.add(`the page was still loading after ${LOAD_MS / 1_000} s`);
  refusalOf(record, opened);
}

/** The error of a run whose browser ended. */
export function browserGone(cause: unknown): ToolError {
  return new ToolError("unavailable", "The browser ended during the run.", {
    hint: "The next run starts a new one.",
    code: "crash",
    cause,
  });
}

/** Rejects when the page's process crashes or its browser ends, whatever the run is waiting for. */
export function endOf(url: URL, opened: TestContext, record: PageRecord): Promise<never> {
  const ended = new Promise<never>((_resolve, reject) => {
    opened.context.once("close", () => reject(browserGone(undefined)));
    record.crashed.then(() =>
      reject(
        new ToolError("unavailable", `The page's process crashed on ${oneLine(url.href)}.`, {
          hint: "The next run starts a new one. Pages that run out of memory crash like this.",
          code: "crash",
        }),
      ),
    );
  });
  // The context is closed after every run.
  ended.catch(() => undefined);
  return ended;
}

/** @throws ToolError `denied` if the page itself (not one of its resources) navigated to a forbidden URL. */
export function refusalOf(record: PageRecord, opened: TestContext): void {
  const { forbidden, wanted } = record.place;
  if (forbidden !== undefined) {
    throw new ToolError("denied", `The page navigated to ${oneLine(forbidden)}, which no run may open.`, {
      hint: "Only http and https pages are tested.",
      code: "refused",
    });
  }
  if (wanted === undefined || !URL.canParse(wanted)) return;
  const failure = opened.proxy.failureAt(authorityOf(new URL(wanted)));
  if (failure?.refused !== true) return;
  throw new ToolError("denied", `${oneLine(wanted)}: ${failure.reason}`, {
    hint: "Allow the host with --allow-host if it is meant to be tested.",
    code: "refused",
  });
}

function unreachable(error: unknown, url: URL, opened: TestContext): ToolError {
  const text = error instanceof Error ? error.message : String(error);
  const failure = opened.proxy.failureAt(authorityOf(url)) ?? opened.proxy.failures.at(-1);
  const [code = ""] = /net::ERR_[A-Z_]+/.exec(text) ?? [];
  if (/ERR_CERT|ERR_SSL/.test(code))
    return new ToolError(
      "unavailable",
      `${oneLine(url.href)} has a certificate that is not trusted (${code.slice(5)}).`,
      {
        hint: "Start the server with --ignore-https-errors to test a site with a self-signed certificate.",
        code: "unreachable",
        cause: error,
      },
    );
  if (/ERR_ABORTED|Download is starting/.test(text))
    return new ToolError("invalid", `${oneLine(url.href)} is a download, not a page.`, {
      hint: "Pass the URL of a page.",
      code: "no_page",
      cause: error,
    });
  const reason = failure?.reason ?? (code === "" ? text.split("\n")[0] : code.slice(5));
  return new ToolError("unavailable", `${oneLine(url.href)} cannot be reached: ${reason}.`, {
    hint: "Check that the web server is running and that host and port are correct.",
    code: "unreachable",
    cause: error,
  });
}

/** Records what happens on a context's page; failed requests include the network boundary's reason. */
export const recordOf = ({ context, page, proxy }: TestContext): PageRecord =>
  new PageRecord(context, page, (url) => {
    const failure = proxy.failureAt(authorityOf(url));
    return failure?.refused === true ? `refused by this server: ${failure.reason}` : failure?.reason;
  });

/** `host:port` as the proxy notes it. */
export function authorityOf(url: URL): string {
  const port = url.port !== "" ? url.port : url.protocol === "https:" ? "443" : "80";
  return `${url.hostname.replace(/^\[(.*)\]$/, "$1")}:${port}`;
}
