import { ToolError } from "@refmcp/boundary/answer";
import { BASELINE_NAME } from "../language/quality.ts";
import { slugOf } from "../run/devices.ts";
import type { Tester } from "../run/tester.ts";

export interface Approval {
  readonly path: string;
  readonly replaced: boolean;
  readonly from: string;
}

/**
 * Accepts a run's screenshot as the baseline for later runs.
 *
 * @param confirm asks the user; nothing is changed before.
 * @throws ToolError `not_found` if the run did not compare this baseline.
 */
export async function approve(
  { runs, baselines }: Pick<Tester, "runs" | "baselines">,
  request: { readonly runId: string; readonly baseline: string; readonly device: string },
  confirm: (question: string) => Promise<void>,
): Promise<Approval> {
  const { runId, baseline } = request;
  if (!BASELINE_NAME.test(baseline) || baseline.includes(".."))
    throw new ToolError(
      "invalid",
      `baseline ${JSON.stringify(baseline.slice(0, 80))} is not a valid baseline name.`,
      {
        hint: "Pass the name from the assertion: screenshot matches baseline 'home'.",
      },
    );
  const device = slugOf(request.device, "device");
  const stem = `${slugOf(baseline, "baseline")}${device === "desktop" ? "" : `-${device}`}`;
  const artifact = await runs.artifact(runId, `${stem}.actual.png`);
  const picture = await runs.read(artifact, Number.MAX_SAFE_INTEGER);
  const before = await baselines.read(baseline, device);
  const path = baselines.path(baseline, device);
  if (before?.equals(picture) === true) return { path, replaced: false, from: artifact.path };
  await confirm(
    before === undefined
      ? `Accept ${artifact.path} as the new baseline '${baseline}' in ${path}?`
      : `Replace the baseline '${baseline}' in ${path} (${before.length} bytes) with ${artifact.path} (${picture.length} bytes)? The old image is lost.`,
  );
  await baselines.write(baseline, device, picture);
  return { path, replaced: before !== undefined, from: artifact.path };
}
