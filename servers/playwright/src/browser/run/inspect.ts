import { ToolError } from "@refmcp/boundary/answer";
import type { Calling } from "../deadline.ts";
import type { Tester } from "./tester.ts";

export interface InspectRequest {
  readonly url: string;
  readonly steps: readonly string[];
  readonly device?: string | undefined;
  readonly limit: number;
  readonly budget: number;
}

/**
 * Inspects a page, after its steps if any.
 *
 * @throws ToolError as a run does.
 */
export async function inspectPage(
  tester: Tester,
  { url, steps, device = "desktop", limit, budget }: InspectRequest,
  call: Calling,
) {
  const request = {
    ...{ url, steps, assertions: [], devices: [device], evidence: ["screenshot" as const] },
    timeoutMs: call.leftMs,
    look: { limit, budget: budget * 0.7 },
  };
  const report = await tester.run(request, call).catch((error: unknown) => {
    if (!(error instanceof ToolError)) throw error;
    // The data of a failed run does not fit an inspection.
    const { cause } = error;
    throw new ToolError(error.kind, error.message, { ...error, data: undefined, cause });
  });
  const { final_url, status, title = "", failed_step, notes } = report;
  const { run_id = "", artifacts = [], seen } = report;
  if (seen === undefined) throw new TypeError("the run made no snapshot");
  return { url: final_url ?? url, status, title, ...seen, failed_step, notes, run_id, artifacts };
}
