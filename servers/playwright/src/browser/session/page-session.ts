import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { NetworkGuard } from "@refmcp/boundary/forward-proxy";
import { browserGone, failure } from "../errors.ts";
import type { Step } from "../language/ast.ts";
import { contextOptionsOf, type Found, setupLength } from "../language/script.ts";
import { reasonOf } from "../library.ts";
import { guard } from "../secrets/guard.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import type { RunFolder } from "../store/disk.ts";
import { type ArtifactOptions, RunArtifacts } from "./artifacts.ts";
import type { Contexts, TestContext } from "./contexts.ts";
import type { Deadline } from "./deadline.ts";
import { type Device, engineNote } from "./devices.ts";
import { Downloads, type Upload } from "./downloads.ts";
import { PageEvents } from "./page-events.ts";
import { Settling } from "./settled.ts";
import { perform, StepFailed, type StepScope } from "./steps.ts";

export interface SessionServices {
  readonly contexts: Contexts;
  readonly guard: NetworkGuard;
  readonly secrets: SecretsInRun;
  readonly stepMs?: number | undefined;
  readonly readUpload: (path: string) => Promise<Upload>;
}

export interface SessionOptions {
  readonly url: URL;
  readonly device: Device;
  /** Their setup steps also set options of the context. */
  readonly steps: readonly Step[];
  readonly folder: RunFolder;
  readonly deadline: Deadline;
  readonly artifacts: Omit<ArtifactOptions, "folder" | "secrets">;
  /** Whether downloads are kept; otherwise each is cancelled and listed. */
  readonly keepsDownloads: boolean;
  /** How bare quoted texts were resolved. */
  readonly found?: Found;
}

/** A page on which sentences are performed and checked: its context, tabs, network, console and artifacts. */
export interface PageSession extends StepScope {
  readonly url: URL;
  readonly opened: TestContext;
  /** Of the run, or of the current call. */
  deadline: Deadline;
  /** Rejects when the page's process crashes or its browser ends, whatever the session is waiting for. */
  readonly ended: Promise<never>;
}

export async function openSession(
  options: SessionOptions,
  services: SessionServices,
): Promise<PageSession> {
  const { url, folder, deadline, steps } = options;
  const asked = contextOptionsOf(steps);
  const device =
    Object.keys(asked).length === 0
      ? options.device
      : { ...options.device, options: { ...options.device.options, ...asked }, isDefault: false };
  const artifacts = new RunArtifacts({ ...options.artifacts, folder, secrets: services.secrets });
  const opening = openContext(services, device, artifacts);
  const opened = await deadline.race(opening).catch((error: unknown) => {
    // A context that is created too late is closed.
    opening.then((late) => late.close()).catch(() => undefined);
    throw error;
  });
  const { context, page, proxy } = opened;
  const { secrets } = services;
  if (secrets.all.isUsed) guard(context, secrets);
  const refusal = (to: URL) => {
    const blocked = proxy.failureAt(authorityOf(to));
    if (blocked?.refused !== true) return blocked?.reason;
    const advice = blocked.reason.includes("--deny-host")
      ? ""
      : `; --allow-host ${to.hostname} allows it`;
    return `blocked by this server: ${blocked.reason.replace(/\.$/, "")}${advice}`;
  };
  const events = new PageEvents(context, page, refusal, secrets.seen);
  const note = engineNote(device, context.browser()?.browserType().name() ?? "chromium");
  if (note !== undefined) events.notes.add(note);
  events.downloads = new Downloads(context, {
    ...{ folder, secrets, stem: artifacts.stem, isKept: options.keepsDownloads },
  });
  return {
    ...services,
    ...{ url, opened, events, deadline, folder, artifacts, device: device.name },
    found: options.found ?? new Map(),
    settling: new Settling(page, events),
    ended: endOf(url, opened, events),
    get page() {
      return events.page;
    },
  };
}

/** A context with the requested recordings; without a video if ffmpeg is missing. */
async function openContext(
  { contexts, guard }: SessionServices,
  device: Device,
  artifacts: RunArtifacts,
): Promise<TestContext> {
  try {
    return await contexts.open(device, guard, artifacts.recording());
  } catch (error) {
    if (!(error instanceof Error && /ffmpeg/i.test(error.message))) throw error;
    artifacts.dropVideo("no video: Playwright's ffmpeg is missing (npx playwright install ffmpeg)");
    return contexts.open(device, guard, artifacts.recording());
  }
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

/** Whether the browser has ended, and not only its page: Playwright reports closed pages first. */
async function isBrowserGone({ opened, deadline, page }: PageSession): Promise<boolean> {
  if (opened.context.browser()?.isConnected() !== true) return true;
  if (!page.isClosed()) return false;
  // Any question to the browser would do.
  return deadline.race(opened.context.cookies([])).then(
    () => false,
    (error: unknown) => !(error instanceof ToolError),
  );
}

function endOf(url: URL, { context }: TestContext, { crashed }: PageEvents): Promise<never> {
  const ended = new Promise<never>((_resolve, reject) => {
    context.once("close", () => reject(browserGone(undefined)));
    crashed.then(() =>
      reject(
        failure("crash", `The page's process crashed on ${oneLine(url.href)}.`, {
          hint: "The next run starts a new one. Pages that run out of memory crash like this.",
        }),
      ),
    );
  });
  // The context is closed after every run.
  ended.catch(() => undefined);
  return ended;
}

/** @throws ToolError `denied` if the page itself (not one of its resources) navigated to a forbidden URL. */
export function checkRefusal({ events, opened }: Pick<PageSession, "events" | "opened">): void {
  const { forbidden, wanted } = events.place;
  if (forbidden !== undefined)
    throw failure(
      "refused",
      `The page navigated to ${oneLine(forbidden)}, which no run may open.`,
      {
        hint: "Only http and https pages are tested.",
      },
    );
  if (wanted === undefined || !URL.canParse(wanted)) return;
  const blocked = opened.proxy.failureAt(authorityOf(new URL(wanted)));
  if (blocked?.refused !== true) return;
  throw failure("refused", `${oneLine(wanted)}: ${blocked.reason}`, {
    hint: "Allow the host with --allow-host if it is meant to be tested.",
  });
}

function unreachable(error: unknown, url: URL, { proxy }: TestContext): ToolError {
  const text = error instanceof Error ? error.message : String(error);
  const blocked = proxy.failureAt(authorityOf(url)) ?? proxy.failures.at(-1);
  const address = oneLine(url.href);
  const [code = ""] = /net::ERR_[A-Z_]+/.exec(text) ?? [];
  if (/ERR_CERT|ERR_SSL/.test(code))
    return failure(
      "unreachable",
      `${address} has a certificate that is not trusted (${code.slice(5)}).`,
      {
        hint: "Start the server with --ignore-https-errors to test a site with a self-signed certificate.",
        cause: error,
      },
    );
  if (/ERR_ABORTED|Download is starting/.test(text))
    return failure("no_page", `${address} is a download, not a page.`, { cause: error });
  const reason = blocked?.reason ?? (code === "" ? text.split("\n")[0] : code.slice(5));
  return failure("unreachable", `${address} cannot be reached: ${reason}.`, { cause: error });
}

/** `host:port` as the proxy notes it. */
function authorityOf(url: URL): string {
  const port = url.port !== "" ? url.port : url.protocol === "https:" ? "443" : "80";
  return `${url.hostname.replace(/^\[(.*)\]$/, "$1")}:${port}`;
}

/** How long a page that responds to nothing may delay a verdict by its title. */
const TITLE_MS = 5_000;

/** @param asked the page's title, where it was asked for earlier. */
export const titleOf = async (
  { deadline, page, secrets }: Pick<PageSession, "deadline" | "page" | "secrets">,
  asked: Promise<string> = page.title(),
): Promise<string> =>
  clip(
    oneLine(secrets.seen((await deadline.within(TITLE_MS, asked).catch(() => undefined)) ?? "")),
    200,
  );

export const notesOf = ({ events, artifacts }: PageSession): string[] => [
  ...events.notes,
  ...artifacts.notes,
  ...[...events.tabs.notes(), ...(events.downloads?.notes() ?? [])].map((text) => oneLine(text)),
  ...events.newDialogs
    .slice(0, 5)
    .map(({ type, message }) => `dialog ${type}: ${oneLine(message)}`),
];

/** Converts an error that ended the work on a page to one for the caller; returns internal errors unchanged. */
export async function explained(error: unknown, session: PageSession): Promise<unknown> {
  if (error instanceof ToolError) return error;
  if (await isBrowserGone(session)) return browserGone(error);
  const { deadline, page } = session;
  if (deadline.signal.aborted)
    return new ToolError("timeout", deadline.error().message, { cause: error });
  if (page.isClosed())
    return new ToolError("unavailable", `Nothing is left to test: ${NO_TAB}.`, {
      hint: "Check it before the step that closes it, or keep another tab open.",
      cause: error,
    });
  if (!(error instanceof Error) || !/^(?:Timeout)?Error$/.test(error.name)) return error;
  return new ToolError(
    "unavailable",
    `The page could not be tested: ${reasonOf(error, "the page")}.`,
    {
      hint: "Pages that are busy or keep reloading cause this. Raise timeout_ms, or check less in one run.",
      cause: error,
    },
  );
}
