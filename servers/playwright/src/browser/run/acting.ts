import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { Locator } from "playwright";
import type { Assertion, Step } from "../language/ast.ts";
import type { Found } from "../language/explicit.ts";
import { contextOptionsOf } from "../language/plan.ts";
import type { BaselineStore } from "../store/baselines.ts";
import type { RunFolder } from "../store/disk.ts";
import type { StateStore } from "../store/states.ts";
import type { Contexts, TestContext } from "./context.ts";
import type { Deadline } from "./deadline.ts";
import type { Device } from "./devices.ts";
import type { Evidence } from "./evidence.ts";
import { holds, type Judging, until } from "./judge.ts";
import { browserGone, refusalOf } from "./navigate.ts";
import type { Quiet } from "./quiet.ts";
import type { PageRecord } from "./record.ts";
import type { SecretsInRun } from "./secrets-in-run.ts";
import { perform, reasonOf } from "./steps.ts";
import { StepFailed } from "./writing.ts";

/** What every run shares. */
export interface RunServices {
  readonly contexts: Contexts;
  /** The run's network guard. */
  readonly guard: NetworkGuard;
  readonly baselines: BaselineStore;
  readonly states: StateStore;
  readonly secrets: SecretsInRun;
  /** Maximum wait of one action for its element. */
  readonly stepMs?: number | undefined;
  readonly readUpload: (path: string) => Promise<Upload>;
}

/** A file for an upload. */
export interface Upload {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/** A page on which sentences are performed, and their dependencies. */
export interface Acting {
  readonly runServices: RunServices;
  readonly opened: TestContext;
  readonly record: PageRecord;
  readonly quiet: Quiet;
  readonly deadline: Deadline;
  readonly device: Device;
  /** Where artifacts are written. */
  readonly folder: RunFolder;
  readonly evidence: Evidence;
  /** How bare quoted texts were resolved. */
  readonly found: Found;
}

/** A device with the context options of the script's setup steps. */
export function arranged(device: Device, steps: readonly Step[]): Device {
  const asked = contextOptionsOf(steps);
  if (Object.keys(asked).length === 0) return device;
  return { ...device, options: { ...device.options, ...asked }, isDefault: false };
}

/** A context with the requested recordings; without a video if ffmpeg is missing. */
export async function openContext(
  { contexts, guard }: RunServices,
  device: Device,
  evidence: Evidence,
): Promise<TestContext> {
  try {
    return await contexts.open({ device, guard, recording: evidence.recording() });
  } catch (error) {
    if (!(error instanceof Error && /ffmpeg/i.test(error.message))) throw error;
    evidence.dropVideo("no video: Playwright's ffmpeg is missing (npx playwright install ffmpeg)");
    return contexts.open({ device, guard, recording: evidence.recording() });
  }
}

/** The dependencies of checks on the page. */
export const judgingOf = (acting: Acting): Judging => ({
  ...acting,
  get page() {
    return acting.record.page;
  },
  baselines: acting.runServices.baselines,
  device: acting.device.name,
  seen: acting.runServices.secrets.seen,
});

/**
 * Performs steps up to the first that fails.
 *
 * @param starting is called with the index of each.
 * @returns the step that failed and why; undefined if all succeeded.
 */
export async function performAll(
  steps: readonly Step[],
  acting: Acting,
  starting: (index: number) => void,
): Promise<string | undefined> {
  const { opened, record, deadline, runServices, evidence } = acting;
  const { states, stepMs, secrets, guard, readUpload: file } = runServices;
  const judging = judgingOf(acting);
  // Assigned, not spread: its page is always the current tab.
  const scope = Object.assign(judging, {
    ...{ states, stepMs, secrets, guard, file },
    until: (assertion: Assertion) => until(assertion, judging),
    holds: (assertion: Assertion) => holds(assertion, judging),
    screenshot: (name: string | undefined, of: Locator | undefined) =>
      evidence.takeScreenshot({ page: record.page, deadline, name, of }),
  });
  for (const [index, step] of steps.entries()) {
    starting(index);
    try {
      await deadline.race(perform(step, scope));
      refusalOf(record, opened);
    } catch (error) {
      refusalOf(record, opened);
      if (error instanceof ToolError) throw error;
      const reason = error instanceof StepFailed ? error.message : reasonOf(error, "the page");
      return `${oneLine(clip(step.text, 300))}: ${clip(reason, 600)}`;
    }
  }
  return undefined;
}

/** Notes of an answer: tabs, downloads, dialogs, omissions. */
export const notesOf = ({ record, evidence }: Pick<Acting, "record" | "evidence">): string[] => [
  ...record.notes,
  ...evidence.notes,
  ...[...record.tabs.notes(), ...(record.downloads?.notes() ?? [])].map((text) => oneLine(text)),
  ...record.dialogs.slice(0, 5).map(({ type, message }) => `dialog ${type}: ${oneLine(message)}`),
];

/** Converts an error that ended the work on a page to one for the caller; returns internal errors unchanged. */
export function explained(
  error: unknown,
  { opened, deadline }: Pick<Acting, "opened" | "deadline">,
): unknown {
  if (error instanceof ToolError) return error;
  if (opened.context.browser()?.isConnected() !== true) return browserGone(error);
  if (deadline.signal.aborted) return new ToolError("timeout", deadline.error().message, { cause: error });
  if (!(error instanceof Error) || !/^(?:Timeout)?Error$/.test(error.name)) return error;
  return new ToolError("unavailable", `The page could not be tested: ${reasonOf(error, "the page")}.`, {
    hint: "Pages that are busy or keep reloading cause this. Raise timeout_ms, or check less in one run.",
    cause: error,
  });
}
