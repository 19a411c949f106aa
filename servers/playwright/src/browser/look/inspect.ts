import { ToolError } from "@refmcp/core/answer";
import { quoted } from "../language/target.ts";
import type { ShownArtifact } from "../run/report.ts";
import type { Seen } from "../run/snapshot.ts";
import type { Calling, Tester } from "../run/tester.ts";

export interface InspectRequest {
  readonly url?: string | undefined;
  /** Done before the look. */
  readonly steps: readonly string[];
  /** The name of a saved state, or a run whose steps are done again first. */
  readonly from?: string | undefined;
  readonly device?: string | undefined;
  readonly limit: number;
  readonly budget: number;
}

export interface Inspection extends Seen {
  /** Where the page is, after redirects and steps. */
  readonly url: string;
  readonly status?: number;
  readonly title: string;
  /** A step that could not be done: the look is at the page as it was then. */
  readonly failed_step?: string;
  readonly notes?: string[];
  readonly run_id: string;
  readonly artifacts: ShownArtifact[];
}

/** A page that cannot be looked at in this time is tested with pw_run_test and a longer timeout_ms. */
const INSPECT_MS = 40_000;

/**
 * Looks at a page, after its steps, if there are any.
 *
 * @throws ToolError as a run does, and `invalid` if neither `url` nor a run says which page.
 */
export async function inspectPage(
  tester: Tester,
  { url, steps, from, device, limit, budget }: InspectRequest,
  call: Calling,
): Promise<Inspection> {
  const start = await startOf(tester, from);
  const first = start.url ?? url;
  if (first === undefined)
    throw new ToolError("invalid", "There is no url.", { hint: "Give url, or the run_id of a run as from." });
  const goto = start.url === undefined || url === undefined ? [] : [`goto ${quoted(url)}`];
  const request = {
    url: first,
    steps: [...start.steps, ...goto, ...steps],
    assertions: [],
    devices: [device ?? start.device ?? "desktop"],
    evidence: ["screenshot" as const],
    timeoutMs: INSPECT_MS,
    look: { limit, budget: budget * 0.75 },
  };
  const report = await tester.run(request, call).catch((error: unknown) => {
    // The data of a run that failed is not that of a look.
    if (error instanceof ToolError)
      throw new ToolError(error.kind, error.message, { ...error, data: undefined, cause: error.cause });
    throw error;
  });
  const { final_url, status, title = "", failed_step, notes, run_id = "", artifacts = [], seen } = report;
  if (seen === undefined) throw new TypeError("the run did not look");
  return {
    url: final_url ?? first,
    ...(status === undefined ? {} : { status }),
    title,
    ...seen,
    ...(failed_step === undefined ? {} : { failed_step }),
    ...(notes === undefined ? {} : { notes }),
    run_id,
    artifacts,
  };
}

interface Start {
  readonly url?: string;
  readonly steps: readonly string[];
  readonly device?: string;
}

/** What an earlier run did, or a saved state. */
async function startOf(tester: Tester, from: string | undefined): Promise<Start> {
  if (from === undefined) return { steps: [] };
  if (!/^\d{8}-\d{6}-[0-9a-f]{8}$/.test(from)) return { steps: [`use state ${quoted(from)}`] };
  const { devices, ...done } = await tester.runs.done(from);
  const [device] = devices;
  return { ...done, ...(device === undefined ? {} : { device }) };
}
