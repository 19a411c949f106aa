import { sizeOf } from "@refmcp/boundary/answer";
import type { Files } from "../files.ts";
import { confirmLoss, planAnswer } from "./answer.ts";
import { planMoves } from "./plan.ts";
import { run } from "./run.ts";

type MoveRequest = Parameters<typeof planMoves>[1] & { readonly dryRun: boolean };
type Call = Parameters<typeof confirmLoss>[1] & {
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
};

/** Moves or copies what was planned, or only describes the plan. */
export async function runMoves(files: Files, { dryRun, ...request }: MoveRequest, call: Call) {
  const { signal } = call;
  const plan = await planMoves(files, { ...request, signal });
  if (dryRun) return planAnswer(plan);
  const { replaced, subject, steps } = plan;
  const what = ` (${sizeOf(replaced.bytes)})`;
  await confirmLoss(files, call, { ...replaced, verb: "Replace", what });
  const progress = (done: number, total: number) => call.progress(done, total);
  return planAnswer(plan, await run(files, subject, steps, { progress, signal }));
}
