import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { Deadline } from "../deadline.ts";
import type { Device } from "../devices.ts";
import { browserGone, failure } from "../errors.ts";
import { type Step, setupLength } from "../language/sentences.ts";
import { reasonOf } from "../library.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import type { RunFolder } from "../store/disk.ts";
import { type ArtifactOptions, RunArtifacts } from "./artifacts.ts";
import { Downloads, type Upload } from "./downloads.ts";
import { PageEvents } from "./events.ts";
import type { Contexts, TestContext } from "./open.ts";
import { Settling } from "./settle.ts";
import { perform, StepFailed, type StepScope } from "./steps.ts";

export interface SessionServices {
  readonly contexts: Contexts;
  readonly guard: NetworkGuard;
  readonly secrets: SecretsInRun;
  readonly stepMs?: number | undefined;
  readonly readUpload: (path: string) => Promise<Upload>;
}

interface SessionOptions {
  readonly url: URL;
  readonly device: Device;
  readonly folder: RunFolder;
  readonly deadline: Deadline;
  readonly artifacts: Omit<ArtifactOptions, "folder" | "secrets">;
  /** Whether downloads are accepted; otherwise each is cancelled and listed. */
  readonly keepsDownloads: boolean;
}

/** A page on which sentences are performed and checked: its context, tabs, network, console and artifacts. */
export interface PageSession extends StepScope {
  readonly url: URL;
  readonly opened: TestContext;
  /** Of the run, or of the current call. */
  deadline: Deadline;
  /** Rejects when the page's process crashes or its browser ends, during any wait of the session. */
  readonly ended: Promise<never>;
}

/** Opens a context with an empty page. */
export async function openSession(
  options: SessionOptions,
  services: SessionServices,
): Promise<PageSession> {
  const { url, device, folder, deadline } = options;
  const { secrets } = services;
  const artifacts = new RunArtifacts({ ...options.artifacts, folder, secrets });
  const acceptDownloads = options.keepsDownloads;
  const recording = { ...artifacts.recording(), acceptDownloads };
  const opening = services.contexts.open(device, services.guard, recording);
  const opened = await deadline.race(opening).catch((error: unknown) => {
    // A context that is created too late is closed.
    opening.then((late) => late.close()).catch(() => undefined);
    throw error;
  });
  const { context, page } = opened;
  const refusal = (to: URL) => refusalOf(to, opened);
  const events = new PageEvents(context, page, refusal, secrets.all.redact);
  events.downloads = new Downloads(context, secrets.all.redact);
  return {
    ...services,
    ...{ url, opened, events, deadline, folder, artifacts, device: device.name },
    settling: new Settling(events),
    ended: endOf(url, opened, events),
    get page() {
      return events.page;
    },
  };
}

/** Called before each step with its index. */
type Starting = (index: number) => unknown;

/**
 * Performs a script's steps: setup steps, then opens the page, then the others, up to the first that fails.
 *
 * @returns the step that failed and why; undefined if all succeeded.
 * @throws ToolError `denied` if the policy refuses the page or one of its redirects, `unavailable` if nothing responds.
 */
export async function playSteps(
  steps: readonly Step[],
  session: PageSession,
  starting: Starting,
): Promise<string | undefined> {
  const setup = setupLength(steps);
  const failed = await performAll(steps.slice(0, setup), session, starting);
  if (failed !== undefined) return failed;
  await arrive(session);
  return performAll(steps.slice(setup), session, (index) => starting(setup + index));
}

const NO_TAB = "the page closed itself, and no other tab is open";

/** Performs steps on the page that is open. */
export async function performAll(
  steps: readonly Step[],
  session: PageSession,
  starting: Starting,
): Promise<string | undefined> {
  for (const [index, step] of steps.entries()) {
    await starting(index);
    try {
      await session.deadline.race(perform(step, session));
      checkRefusal(session);
    } catch (error) {
      checkRefusal(session);
      if (error instanceof ToolError) throw error;
      if (await isBrowserGone(session)) throw browserGone(error);
      const said = error instanceof StepFailed ? error.message : reasonOf(error, "the page");
      const reason = session.page.isClosed() ? NO_TAB : said;
      return `${oneLine(clip(step.text, 300))}: ${clip(reason, 600)}`;
    }
  }
  return undefined;
}

/** How long a session waits for a page's load event after its first response. */
const LOAD_MS = 10_000;

async function arrive(session: PageSession): Promise<void> {
  const { url, opened, events, deadline } = session;
  const { page } = opened;
  try {
    // Only the deadline limits the time: with two clocks, the error would depend on which fires first.
    await deadline.race(page.goto(url.href, { waitUntil: "domcontentloaded", timeout: 0 }));
  } catch (error) {
    if (error instanceof ToolError) throw error;
    if (await isBrowserGone(session)) throw browserGone(error);
    checkRefusal(session);
    throw unreachable(error, url, opened);
  }
  checkRefusal(session);
  const loading = page.waitForLoadState("load").then(() => true);
  if ((await deadline.within(LOAD_MS, loading)) !== true)
    events.notes.add(`the page was still loading after ${LOAD_MS / 1_000} s`);
  checkRefusal(session);
}

/** How long a browser that hangs may delay an error. */
const ASK_MS = 5_000;

/** Whether the browser has ended. The end of a page arrives before its browser's, so the browser is asked. */
async function isBrowserGone({ opened: { context }, page, deadline }: Ended): Promise<boolean> {
  if (context.browser()?.isConnected() !== true) return true;
  if (!page.isClosed()) return false;
  const asking = context.cookies().then(
    () => false,
    () => true,
  );
  return (await deadline.within(ASK_MS, asking).catch(() => false)) ?? false;
}

function endOf(url: URL, { context }: TestContext, { crashed }: PageEvents): Promise<never> {
  const ended = new Promise<never>((_resolve, reject) => {
    context.once("close", () => reject(browserGone(undefined)));
    const crash = failure("crash", `The page's process crashed on ${oneLine(url.href)}.`, {
      hint: "The next run starts a new one. Pages that run out of memory crash like this.",
    });
    crashed.then(() => reject(crash));
  });
  // The context is closed after every run.
  ended.catch(() => undefined);
  return ended;
}

/** Why the network boundary did not let a request through; undefined if it did. */
function refusalOf(to: URL, { proxy }: TestContext): string | undefined {
  const blocked = proxy.failureAt(authorityOf(to));
  if (blocked?.isRefused !== true) return blocked?.reason;
  const advice = blocked.reason.includes("--deny-host")
    ? ""
    : `; --allow-host ${to.hostname} allows it`;
  return `blocked by this server: ${blocked.reason.replace(/\.$/, "")}${advice}`;
}

/** @throws ToolError `denied` if the page itself (not one of its resources) navigated to a forbidden URL. */
export function checkRefusal({ events, opened }: Pick<PageSession, "events" | "opened">): void {
  const { wanted } = events.place;
  if (wanted === undefined || !URL.canParse(wanted)) return;
  const blocked = opened.proxy.failureAt(authorityOf(new URL(wanted)));
  if (blocked?.isRefused !== true) return;
  throw failure("refused", `${oneLine(wanted)}: ${blocked.reason}`, {
    hint: "Allow the host with --allow-host if it is meant to be tested.",
  });
}

function unreachable(error: unknown, url: URL, { proxy }: TestContext): ToolError {
  const text = error instanceof Error ? error.message : String(error);
  const address = oneLine(url.href);
  const code = /net::(ERR_[A-Z_]+)/.exec(text)?.[1];
  if (code !== undefined && /ERR_CERT|ERR_SSL/.test(code))
    return failure("unreachable", `${address} has a certificate that is not trusted (${code}).`, {
      hint: "Start the server with --ignore-https-errors to test a site with a self-signed certificate.",
      cause: error,
    });
  if (/ERR_ABORTED|Download is starting/.test(text))
    return failure("no_page", `${address} is a download, not a page.`, { cause: error });
  const blocked = proxy.failureAt(authorityOf(url)) ?? proxy.failures.at(-1);
  const reason = blocked?.reason ?? code ?? text.split("\n")[0];
  return failure("unreachable", `${address} cannot be reached: ${reason}.`, { cause: error });
}

/** `host:port` as the proxy notes it. */
function authorityOf({ hostname, port, protocol }: URL): string {
  const known = port !== "" ? port : protocol === "https:" ? "443" : "80";
  return `${hostname}:${known}`;
}

/** How long a page that responds to nothing may delay a verdict by its title. */
const TITLE_MS = 5_000;

export async function titleOf({
  deadline,
  page,
  secrets,
}: Pick<PageSession, "deadline" | "page" | "secrets">): Promise<string> {
  const title = await deadline.within(TITLE_MS, page.title()).catch(() => undefined);
  return clip(oneLine(secrets.all.redact(title ?? "")), 200);
}

export const notesOf = ({ events, artifacts }: PageSession): string[] => [
  ...events.notes,
  ...artifacts.notes,
  ...[...events.tabs.notes(), ...(events.downloads?.notes() ?? [])].map((text) => oneLine(text)),
  ...events.newDialogs
    .slice(0, 5)
    .map(({ type, message }) => `dialog ${type}: ${oneLine(message)}`),
];

/** The parts of a session that show why it ended. */
type Ended = Pick<PageSession, "deadline" | "page"> & {
  readonly opened: Pick<TestContext, "context">;
};

/** Converts an error that ended the work on a page to one for the caller; returns internal errors unchanged. */
export async function explained(cause: unknown, session: Ended): Promise<unknown> {
  if (cause instanceof ToolError) return cause;
  const { deadline, page } = session;
  if (deadline.signal.aborted) return new ToolError("timeout", deadline.error().message, { cause });
  if (await isBrowserGone(session)) return browserGone(cause);
  if (page.isClosed())
    return new ToolError("unavailable", `Nothing is left to test: ${NO_TAB}.`, {
      hint: "Check it before the step that closes it, or keep another tab open.",
      cause,
    });
  if (!(cause instanceof Error) || !/^(?:Timeout)?Error$/.test(cause.name)) return cause;
  const reason = reasonOf(cause, "the page");
  return new ToolError("unavailable", `The page could not be tested: ${reason}.`, {
    hint: "Pages that are busy or keep reloading cause this. Raise timeout_ms, or check less in one run.",
    cause,
  });
}
