import { ToolError } from "@refmcp/boundary/answer";
import { quoted } from "../language/reader.ts";
import type { Calling } from "../session/deadline.ts";
import type { Tester } from "./tester.ts";

export interface InspectRequest {
  readonly url?: string | undefined;
  readonly steps: readonly string[];
  /** A run whose steps are repeated first. */
  readonly from?: string | undefined;
  readonly device?: string | undefined;
  readonly limit: number;
  readonly budget: number;
}

/**
 * Inspects a page, after its steps if any.
 *
 * @throws ToolError as a run does, and `invalid` if neither `url` nor a run names the page.
 */
export async function inspectPage(
  tester: Tester,
  { url, steps, from, device, limit, budget }: InspectRequest,
  call: Calling,
) {
  const { runs } = tester.options;
  const start: Partial<Awaited<ReturnType<typeof runs.done>>> =
    from === undefined ? {} : await runs.done(from);
  const first = start.url ?? url;
  if (first === undefined)
    throw new ToolError("invalid", "url is missing.", { hint: "Pass url, or a run_id as from." });
  const goto = start.url === undefined || url === undefined ? [] : [`goto ${quoted(url)}`];
  const request = {
    url: first,
    steps: [...(start.steps ?? []), ...goto, ...steps],
    assertions: [],
    devices: [device ?? start.devices?.[0] ?? "desktop"],
    evidence: ["screenshot" as const],
    timeoutMs: call.leftMs,
    look: { limit, budget: budget * 0.7 },
  };
  const report = await tester.run(request, call).catch((error: unknown) => {
    // The data of a failed run does not fit an inspection.
    if (error instanceof ToolError)
      throw new ToolError(error.kind, error.message, {
        ...error,
        data: undefined,
        cause: error.cause,
      });
    throw error;
  });
  const {
    final_url,
    status,
    title = "",
    failed_step,
    notes,
    run_id = "",
    artifacts = [],
    seen,
  } = report;
  if (seen === undefined) throw new TypeError("the run made no snapshot");
  return { url: final_url ?? first, status, title, ...seen, failed_step, notes, run_id, artifacts };
}
